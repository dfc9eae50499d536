//! The values of the language that are kiln's own.

use std::fmt;

use allocative::Allocative;
use starlark::any::ProvidesStaticType;
use starlark::eval::{Arguments, Evaluator, ParametersSpec, ParametersSpecParam};
use starlark::starlark_simple_value;
use starlark::values::dict::{AllocDict, DictRef};
use starlark::values::float::StarlarkFloat;
use starlark::values::list::{AllocList, ListRef};
use starlark::values::structs::{AllocStruct, StructRef};
use starlark::values::tuple::TupleRef;
use starlark::values::{
    FrozenValue, Heap, NoSerialize, StarlarkValue, UnpackValue, Value, ValueLike, starlark_value,
};

use crate::context::{Context, Passed};
use crate::data::{Data, Described, Object, ObjectKind};
use crate::show::shown;
use crate::signature::Signature;
use crate::source::Position;
use crate::stop::Stop;
use crate::{call, local};

/// Characters of a value that is shown, and how many values are.
const WIDTH: usize = 80;
const VALUES: usize = 8;

/// Types of variables that say nothing to a person. The interpreter does not show what is in a variable of which a
/// function in the function makes use.
const HIDDEN: [&str; 2] = ["function", "value_captured"];

/// Lists in lists.
const DEPTH: usize = 32;

/// What does a function.
pub(crate) type Act =
    for<'v, 'a, 'e> fn(&'static str, &Passed<'v>, &mut Evaluator<'v, 'a, 'e>) -> Result<Value<'v>, Stop>;

/// A thing outside of the script.
#[derive(Debug, ProvidesStaticType, NoSerialize, Allocative)]
pub(crate) struct ObjectValue(#[allocative(skip)] pub(crate) Object);

/// Something that is described before it is made.
#[derive(Debug, ProvidesStaticType, NoSerialize, Allocative)]
pub(crate) struct DescribedValue(#[allocative(skip)] pub(crate) Described);

/// A method of an object.
#[derive(Debug, ProvidesStaticType, NoSerialize, Allocative)]
pub(crate) struct MethodValue {
    #[allocative(skip)]
    object: Object,
    #[allocative(skip)]
    signature: &'static Signature,
}

/// A function.
#[derive(ProvidesStaticType, NoSerialize, Allocative)]
pub(crate) struct FunctionValue {
    name: &'static str,
    #[allocative(skip)]
    act: Act,
}

/// A function that is to run beside others.
#[derive(Debug, Clone, ProvidesStaticType, NoSerialize, Allocative)]
pub(crate) struct BranchValue {
    #[allocative(skip)]
    pub(crate) function: FrozenValue,
    pub(crate) name: String,
    #[allocative(skip)]
    pub(crate) arguments: Vec<Data>,
    /// Where it is made.
    #[allocative(skip)]
    pub(crate) at: Position,
}

starlark_simple_value!(ObjectValue);
starlark_simple_value!(DescribedValue);
starlark_simple_value!(MethodValue);
starlark_simple_value!(FunctionValue);
starlark_simple_value!(BranchValue);

impl FunctionValue {
    pub(crate) fn new(name: &'static str, act: Act) -> Self {
        Self { name, act }
    }
}

#[starlark_value(type = "object")]
impl<'v> StarlarkValue<'v> for ObjectValue {
    type Canonical = Self;

    fn get_attr(&self, attribute: &str, heap: &'v Heap) -> Option<Value<'v>> {
        let known = self.0.attributes.iter().find(|(name, _)| *name == attribute);
        if let Some((_, data)) = known {
            return Some(alloc(data, heap));
        }
        let signature = methods(&self.0).into_iter().find(|signature| signature.name == attribute)?;
        Some(heap.alloc_simple(MethodValue { object: self.0.clone(), signature }))
    }

    fn dir_attr(&self) -> Vec<String> {
        let attributes = self.0.attributes.iter().map(|(name, _)| *name);
        attributes.chain(methods(&self.0).into_iter().map(|it| it.name)).map(str::to_owned).collect()
    }

    fn equals(&self, other: Value<'v>) -> starlark::Result<bool> {
        Ok(ObjectValue::from_value(other).is_some_and(|other| other.0 == self.0))
    }
}

#[starlark_value(type = "description")]
impl<'v> StarlarkValue<'v> for DescribedValue {
    type Canonical = Self;
}

#[starlark_value(type = "branch")]
impl<'v> StarlarkValue<'v> for BranchValue {
    type Canonical = Self;
}

#[starlark_value(type = "function")]
impl<'v> StarlarkValue<'v> for MethodValue {
    type Canonical = Self;

    fn name_for_call_stack(&self, _me: Value<'v>) -> String {
        self.signature.name.to_owned()
    }

    fn invoke(
        &self,
        _me: Value<'v>,
        args: &Arguments<'v, '_>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let passed = passed(args, eval.heap())?;
        let done = Context::of(eval)
            .and_then(|context| (context.session.method)(&self.object, self.signature, &passed, eval));
        done.map_err(|stop| at_hand(stop, eval))
    }
}

#[starlark_value(type = "function")]
impl<'v> StarlarkValue<'v> for FunctionValue {
    type Canonical = Self;

    fn name_for_call_stack(&self, _me: Value<'v>) -> String {
        self.name.to_owned()
    }

    fn invoke(
        &self,
        _me: Value<'v>,
        args: &Arguments<'v, '_>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let passed = passed(args, eval.heap())?;
        (self.act)(self.name, &passed, eval).map_err(|stop| at_hand(stop, eval))
    }
}

impl fmt::Debug for FunctionValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.name)
    }
}

macro_rules! shown_as {
    ($($value:ident: $show:expr),* $(,)?) => {
        $(impl fmt::Display for $value {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                let show: fn(&$value, &mut fmt::Formatter<'_>) -> fmt::Result = $show;
                show(self, out)
            }
        })*
    };
}

shown_as! {
    ObjectValue: |it, out| write!(out, "{}", it.0),
    DescribedValue: |it, out| write!(out, "{}", it.0),
    MethodValue: |it, out| write!(out, "{}", it.signature.name),
    FunctionValue: |it, out| write!(out, "{}", it.name),
    BranchValue: |it, out| write!(out, "branch({})", it.name),
}

/// The data that a value is.
///
/// # Errors
///
/// With what it is if it is none.
pub(crate) fn data(value: Value<'_>) -> Result<Data, String> {
    data_at(value, DEPTH)
}

fn data_at(value: Value<'_>, depth: usize) -> Result<Data, String> {
    let deeper = depth.checked_sub(1).ok_or_else(|| format!("lists in lists deeper than {DEPTH}"))?;
    let items = |items: &[Value<'_>]| {
        items.iter().map(|item| data_at(*item, deeper)).collect::<Result<_, _>>().map(Data::List)
    };
    if let Some(list) = ListRef::from_value(value) {
        return items(list.content());
    }
    if let Some(tuple) = TupleRef::from_value(value) {
        return items(tuple.content());
    }
    if let Some(entries) = DictRef::from_value(value) {
        let entries = entries.iter().map(|(key, value)| {
            let key = key.unpack_str().ok_or_else(|| "a dict whose keys are no texts".to_owned())?;
            Ok((key.to_owned(), data_at(value, deeper)?))
        });
        return entries.collect::<Result<_, String>>().map(Data::Map);
    }
    if let Some(fields) = StructRef::from_value(value) {
        let fields =
            fields.iter().map(|(name, value)| Ok((name.as_str().to_owned(), data_at(value, deeper)?)));
        return fields.collect::<Result<_, String>>().map(Data::Struct);
    }
    scalar(value)
}

fn scalar(value: Value<'_>) -> Result<Data, String> {
    if value.is_none() {
        return Ok(Data::None);
    }
    if let Some(flag) = value.unpack_bool() {
        return Ok(Data::Bool(flag));
    }
    if let Some(text) = value.unpack_str() {
        return Ok(Data::Text(text.to_owned()));
    }
    if let Ok(Some(number)) = i64::unpack_value(value) {
        return Ok(Data::Int(number));
    }
    if let Some(number) = value.downcast_ref::<StarlarkFloat>() {
        return Ok(Data::Float(number.0));
    }
    if let Some(object) = ObjectValue::from_value(value) {
        return Ok(Data::Object(object.0.clone()));
    }
    if let Some(described) = DescribedValue::from_value(value) {
        return Ok(Data::Described(described.0.clone()));
    }
    Err(match value.get_type() {
        "int" => "a whole number of more than 64 bits".to_owned(),
        other => format!("a {other}"),
    })
}

/// A value for data.
pub(crate) fn alloc<'v>(data: &Data, heap: &'v Heap) -> Value<'v> {
    match data {
        Data::None => Value::new_none(),
        Data::Bool(flag) => Value::new_bool(*flag),
        Data::Int(number) => heap.alloc(*number),
        Data::Float(number) => heap.alloc(*number),
        Data::Text(text) => heap.alloc(text.as_str()),
        Data::List(items) => heap.alloc(AllocList(items.iter().map(|item| alloc(item, heap)))),
        Data::Map(entries) => {
            heap.alloc(AllocDict(entries.iter().map(|(key, value)| (key.as_str(), alloc(value, heap)))))
        }
        Data::Struct(fields) => {
            heap.alloc(AllocStruct(fields.iter().map(|(name, value)| (name.as_str(), alloc(value, heap)))))
        }
        Data::Object(object) => heap.alloc_simple(ObjectValue(object.clone())),
        Data::Described(described) => heap.alloc_simple(DescribedValue(described.clone())),
    }
}

/// All methods of a thing.
fn methods(object: &Object) -> Vec<&'static Signature> {
    call::methods(object.kind).into_iter().chain(local::methods(object.kind)).collect()
}

fn passed<'v>(args: &Arguments<'v, '_>, heap: &'v Heap) -> starlark::Result<Passed<'v>> {
    let none = std::iter::empty::<(&str, ParametersSpecParam<FrozenValue>)>;
    let spec = ParametersSpec::new_parts("", none(), none(), true, none(), true);
    let [positional, named] = spec.collect_into::<2>(args, heap)?;
    let positional = positional.and_then(TupleRef::from_value).map(|tuple| tuple.content().to_vec());
    let named = named.and_then(DictRef::from_value).map(|named| {
        named.iter().map(|(name, value)| (name.unpack_str().unwrap_or_default().to_owned(), value)).collect()
    });
    Ok(Passed { positional: positional.unwrap_or_default(), named: named.unwrap_or_default() })
}

/// An error, with the variables at hand after the values that it has already.
fn at_hand(stop: Stop, eval: &Evaluator<'_, '_, '_>) -> starlark::Error {
    let known = |name: &String| stop.values.iter().any(|(value, _)| value == name);
    let variables =
        eval.local_variables().into_iter().filter(|(name, _)| !name.starts_with('_') && !known(name));
    let variables = variables.filter_map(|(name, value)| {
        let is_lab = ObjectValue::from_value(value).is_some_and(|it| it.0.kind == ObjectKind::Lab);
        let is_data = !HIDDEN.contains(&value.get_type()) && !is_lab;
        is_data.then(|| (name, seen(value)))
    });
    let values = stop.values.iter().cloned().chain(variables).take(VALUES).collect();
    starlark::Error::new_native(Stop { values, ..stop })
}

/// A value as people see it.
pub(crate) fn seen(value: Value<'_>) -> String {
    shown(&short(value), WIDTH)
}

/// A value for people: a list in a list is not put into words.
fn short(value: Value<'_>) -> String {
    if let Some(text) = value.unpack_str() {
        return format!("{:?}", text.chars().take(WIDTH).collect::<String>());
    }
    let items = ListRef::from_value(value).map(ListRef::content);
    let items = items.or_else(|| TupleRef::from_value(value).map(TupleRef::content));
    match items {
        Some(items) if items.len() <= VALUES => {
            let items: Vec<String> = items.iter().map(|item| shallow(*item)).collect();
            return format!("[{}]", items.join(", "));
        }
        _ => {}
    }
    match StructRef::from_value(value) {
        Some(fields) => {
            let fields = fields.iter().take(VALUES);
            let fields = fields.map(|(name, value)| format!("{} = {}", name.as_str(), shallow(value)));
            format!("struct({})", fields.collect::<Vec<_>>().join(", "))
        }
        None => shallow(value),
    }
}

fn shallow(value: Value<'_>) -> String {
    match (value.unpack_str(), value.length()) {
        (Some(text), _) => format!("{:?}", text.chars().take(WIDTH).collect::<String>()),
        (None, Ok(length)) => format!("{} of {length}", value.get_type()),
        _ if StructRef::from_value(value).is_some() => "struct".to_owned(),
        _ => value.to_repr(),
    }
}
