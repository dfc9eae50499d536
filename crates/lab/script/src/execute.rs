//! Evaluation of a part of a script, within its limits.

use std::collections::HashMap;
use std::thread;

use judge::Blame;
use starlark::codemap::FileSpanRef;
use starlark::environment::{FrozenModule, Module};
use starlark::eval::{BeforeStmtFuncDyn, Evaluator, ReturnFileLoader};
use starlark::values::{FrozenValue, Value};

use crate::context::Context;
use crate::data::Data;
use crate::failure::Failure;
use crate::limits::Limits;
use crate::stop::Stop;
use crate::value::{alloc, data};

/// Bytes of stack for each byte of values. The interpreter follows what is nested with its stack: less than 768 bytes for a
/// tuple in a tuple, which takes 24.
const STACK_FOR_VALUES: usize = 32;

/// Runs `act` in a thread whose stack is large enough for what is nested in a script.
pub(crate) fn in_thread<T: Send>(limits: &Limits, act: impl FnOnce() -> T + Send) -> Result<T, Stop> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("script".to_owned()).stack_size(stack(limits));
        let thread = thread
            .spawn_scoped(scope, act)
            .map_err(|error| Stop::broken(Blame::Host, format!("the script cannot be started: {error}")))?;
        thread.join().map_err(|_| Stop::broken(Blame::Kiln, "kiln failed while it ran the script"))
    })
}

/// Bytes of the stack of a thread that evaluates. It takes memory only as far as it is used.
pub(crate) fn stack(limits: &Limits) -> usize {
    limits.heap_bytes.saturating_mul(STACK_FOR_VALUES).max(64 * 1024 * 1024)
}

/// Looks at the limits before each statement.
struct Watch;

impl<'a, 'e: 'a> BeforeStmtFuncDyn<'a, 'e> for Watch {
    fn call<'v>(&mut self, _span: FileSpanRef<'_>, eval: &mut Evaluator<'v, 'a, 'e>) -> starlark::Result<()> {
        let heap_bytes = eval.heap().allocated_bytes();
        let spent = Context::of(eval).and_then(|context| context.spend(1, heap_bytes));
        spent.map_err(starlark::Error::new_native)
    }
}

/// Evaluates something in `module`.
pub(crate) fn evaluate<R>(
    context: &Context<'_>,
    module: &Module,
    loaded: &HashMap<&str, &FrozenModule>,
    act: impl for<'v> FnOnce(&mut Evaluator<'v, '_, '_>) -> starlark::Result<R>,
) -> Result<R, Failure> {
    let loader = ReturnFileLoader { modules: loaded };
    let mut eval = Evaluator::new(module);
    eval.extra = Some(context);
    eval.set_loader(&loader);
    let watch: Box<dyn BeforeStmtFuncDyn<'_, '_>> = Box::new(Watch);
    eval.before_stmt_for_dap(watch.into());
    let depth = eval.set_max_callstack_size(context.session.limits.call_depth);
    let done = depth.map_err(starlark::Error::from).and_then(|()| act(&mut eval));
    done.map_err(|error| Failure::of(&error, context.session.files))
}

/// Calls a function of a module that was evaluated, and gives what it returns.
pub(crate) fn call(
    context: &Context<'_>,
    function: FrozenValue,
    arguments: &[Data],
) -> Result<Data, Failure> {
    let module = Module::new();
    evaluate(context, &module, &HashMap::new(), |eval| {
        let heap = eval.heap();
        let arguments = std::iter::once(&context.session.lab).chain(arguments);
        let arguments: Vec<Value<'_>> = arguments.map(|argument| alloc(argument, heap)).collect();
        let returned = eval.eval_function(function.to_value(), &arguments, &[])?;
        data(returned).map_err(|what| {
            let text = format!("the function returns {what}; it can return plain data only");
            starlark::Error::new_native(Stop::usage(text))
        })
    })
}
