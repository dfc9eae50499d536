# Judges a Run from its console and what the agent wrote.

FILENAME == "control.txt" { control[++controls] = $0; next }
{ console[++consoles] = $0 }
END { print decide() > "code" }

# A line of the verdict, and lines that show it; the worst Outcome decides the exit code.
function conclude(outcome, name, why) {
    sub(/^[ \t]+/, "", why); gsub(/\036/, " ", why)
    printf "%-6s  %s%s%s\n", outcome, name, why == "" ? "" : ": ", why
    if (outcome == "pass") passes++
    else if (outcome == "broken") brokens++
    else if (outcome != "skip") faults++
}
function shows(label, text) { gsub(/\036/, " ", text); printf "        %-6s  %s\n", label, text }
function show_report(    i) { for (i = 1; i <= lines && i <= SHOWN; i++) shows("kernel", report[i]) }
function show_console(    i) { for (i = consoles > SHOWN ? consoles - SHOWN + 1 : 1; i <= consoles; i++) shows("shows", console[i]) }
function show_output(    count, words, i) {
    count = split(output, words, "\036")
    for (i = count > SHOWN ? count - SHOWN + 1 : 1; i <= count; i++) if (words[i] != "") shows("output", words[i])
}
function code() { return faults ? 1 : brokens ? 3 : passes ? 0 : 4 }

# What the agent wrote.
function hear(    i, word, text) {
    for (i = 1; i <= controls; i++) {
        word = before(control[i], " ")
        text = after(control[i], " ")
        if (word == "hello") hello = 1
        else if (word == "log") log_text[++logs] = text
        else if (word == "lost") lost = 1
        else if (word == "output") output = output text
        else if (word == "left") left[++lefts] = text
        else if (word == "trouble") trouble[++troubles] = text
        else if (word == "counts") split(text, count, " ")
        else if (word == "taint") taint = text + 0
        else if (word == "stacks") stacks = text
        else if (word == "end") { finish = text; return }
        else if (word ~ /^(pass|fail|skip|broken)$/) { if (!(word in first)) first[word] = text; else if (word == "fail") shown_fail[++fails] = text }
    }
}

# What the kernel said last about the machine.
function last_words(from,    i, text) {
    for (i = from; i <= consoles; i++) {
        text = message(console[i])
        if (panic == "" && begins(text, "Kernel panic - not syncing: ")) panic = substr(text, 29)
        if (text ~ /^reboot: Restarting system/ || text == "sysrq: Resetting") order = "restart"
        if (text == "reboot: Power down" || text == "reboot: System halted") order = "off"
    }
}

function decide(    i, begin, status) {
    hear()
    begin = hello ? 0 : consoles + 1
    for (i = 1; i <= consoles && !begin; i++) if (message(console[i]) == BEGINS) begin = i + 1
    if (!begin) begin = 1
    last_words(hello ? begin : 1)
    if (!hello) return boot_failed()
    status = EXPECTS; EXPECTS = 0
    if (scan(console, 1, begin - 1)) { conclude("fail", "boot", CAUSE); show_report() }
    EXPECTS = status
    if (finish == "") return ended_early(begin)
    if (scan(log_text, 1, logs) || (lost && scan(console, begin, consoles))) { conclude("fail", CASE, CAUSE); show_report() }
    else finished()
    show_output()
    for (i = 1; i <= lefts; i++) shows("note", "left behind: " left[i])
    for (i = 1; i <= troubles; i++) shows("note", "agent: " trouble[i])
    if (IS_EXEC && !brokens && finish ~ /^exited [1-9]/) {
        status = substr(finish, 8) + 0
        printf "run.sh: exit status %d is that of the program\n", status > "/dev/stderr"
        return status <= 255 ? status : 3
    }
    return code()
}

function boot_failed() {
    if (panic ~ /^Attempted to kill init!/) conclude("broken", "boot", "by kiln: process 1 died: " panic)
    else if (panic != "") conclude("crash", "boot", "the kernel panicked: " panic)
    else if (order == "restart") conclude("crash", "boot", "the kernel panicked: the kernel restarted before user space")
    else if (order == "off") conclude("broken", "boot", "by the machine: the agent found no control port")
    else if (STOPPED ~ /^silent/ && !consoles) conclude("broken", "boot", "by the machine: no output on the console within" substr(STOPPED, 7) " s")
    else if (STOPPED ~ /^silent/) conclude("hang", "boot", "the kernel stopped after " consoles " lines on the console and said nothing for" substr(STOPPED, 7) " s")
    else if (STOPPED ~ /^late/) conclude("hang", "boot", "the kernel did not reach user space within" substr(STOPPED, 5) " s")
    else if (STOPPED != "" || STATUS != 0) conclude("broken", "boot", "by the machine: " quit())
    else conclude("crash", "boot", "the machine was reset without a message (a triple fault?)")
    show_console()
    return code()
}

# QEMU's own words.
function quit() { return STOPPED != "" ? STOPPED : "QEMU: exit status " STATUS ", see its message above" }

# The machine came to an end before the run did.
function ended_early(begin,    found) {
    found = scan(console, begin, consoles)
    if (panic ~ /^Attempted to kill init!/ && !(found && ROLE[open] != "panic")) conclude("broken", CASE, "by kiln: process 1 died: " panic)
    else if (panic != "") conclude("crash", CASE, found ? CAUSE : "Kernel panic: " panic)
    else if (STOPPED ~ /^silent/) conclude("hang", CASE, found ? CAUSE : "the machine stopped answering for" substr(STOPPED, 7) " s")
    else if (STOPPED ~ /^late/) conclude("hang", CASE, found ? CAUSE : "the agent answers, but the case is still running long after its limit")
    else if (order == "restart") conclude("broken", CASE, "by the case: the case restarted the machine")
    else if (order == "off") conclude("broken", CASE, "by the case: the case powered the machine off")
    else if (STOPPED != "" || STATUS != 0) conclude("broken", CASE, "by the machine: " quit())
    else conclude("crash", CASE, "the machine was reset without a message (a triple fault?)")
    if (found) show_report()
    else show_console()
    show_output()
    return code()
}

# The agent told the end, and the kernel has nothing to say.
function finished(    status, i, accused) {
    if (finish ~ /^late/) {
        conclude("hang", CASE, "the case did not end within its time limit" (finish ~ /stuck/ ? " and cannot be killed" : ""))
        status = split(stacks, STACK, "\036")
        for (i = 1; i <= status && i <= SHOWN; i++) shows("stack", STACK[i])
    }
    else if (finish ~ /^not-started/) conclude("broken", CASE, "by kiln: the case could not be started: " substr(finish, 13))
    else if (count[2] > 0) { conclude("fail", CASE, said("fail")); for (i = 1; i <= fails; i++) shows("check", shown_fail[i]) }
    else if (count[4] > 0) conclude("broken", CASE, "by the case: " said("broken"))
    else if (!EXPECTS && (accused = tainted()) != "") conclude("fail", CASE, "the kernel became tainted: " accused)
    else if (finish ~ /^signalled/) conclude("fail", CASE, "the case was killed by signal " substr(finish, 11))
    else if (DIALECT == "kselftest") kselftest(substr(finish, 8) + 0)
    else if (DIALECT == "ltp") ltp(substr(finish, 8) + 0)
    else program(substr(finish, 8) + 0)
}

function said(kind) { return first[kind] != "" ? first[kind] : "without a text" }
function total() { return count[1] + count[2] + count[3] + count[4] }

# Not every awk knows powers.
function bit(number, place) { while (place--) number = int(number / 2); return number % 2 }

function tainted(    i, text) {
    for (i = 1; i <= TAINTS; i++) if (bit(taint, TAINT_BIT[i])) text = text (text == "" ? "" : ", ") TAINT[i]
    return text
}

# Cases of kiln, and programs that know of no other words than their exit status.
function program(status) {
    if (status == 4 && DIALECT != "kiln") conclude("skip", CASE, first["skip"] != "" ? first["skip"] : "exit status 4")
    else if (status) conclude("fail", CASE, "exit status " status)
    else if (!total() && DIALECT != "kiln") conclude("pass", CASE, "")
    else if (!total()) conclude("broken", CASE, "by the case: the case ended without reporting anything")
    else if (!count[1]) conclude("skip", CASE, said("skip"))
    else conclude("pass", CASE, "")
}

# Lines of the output: without the marks by which results of tests within tests are passed on.
function outputs(    i) {
    OUTPUTS = split(output, OUT, "\036")
    for (i = 1; i <= OUTPUTS; i++) { sub(/^[# \t]+/, "", OUT[i]); sub(/[ \t]+$/, "", OUT[i]) }
}

# What stands after a directive: its own text, or else the name of what has it.
function directive(word,    i, text, name) {
    for (i = 1; i <= OUTPUTS; i++) {
        if (!index(OUT[i], "# " word)) continue
        DIRECTED = 1
        text = after(OUT[i], "# " word)
        gsub(/^[ \t]+|[ \t]+$/, "", text)
        if (text != "") return text
        name = before(OUT[i], "# " word)
        sub(/^(not )*(ok )*[0-9]*[ .-]*/, "", name); sub(/[ .-]+$/, "", name)
        if (name != "") return name
    }
    return ""
}

function kselftest(status,    text, i) {
    outputs()
    if ((status == 0 || status == 4) && total()) { program(status); return }
    if (status == 0) conclude("pass", CASE, "")
    else if (status == 2) {
        DIRECTED = 0
        text = directive("XFAIL")
        if (!DIRECTED && tolower(output) !~ /xfail/) conclude("fail", CASE, "exit status 2 without an expected failure (XFAIL) in the output")
        else conclude("pass", CASE, "expected failure" (text == "" ? "" : ": " text))
    }
    else if (status == 3) conclude("fail", CASE, "it passed where a failure was expected (exit status 3)")
    else if (status == 4) {
        text = directive("SKIP")
        for (i = OUTPUTS; i >= 1 && text == ""; i--) text = OUT[i]
        conclude("skip", CASE, first["skip"] != "" ? first["skip"] : text == "" ? "exit status 4" : text)
    }
    else if (status == 124) conclude("hang", CASE, "it ended by its own time limit (exit status 124)")
    else {
        for (i = 1; i <= OUTPUTS; i++) if (OUT[i] ~ /^not ok/ && OUT[i] !~ /# (SKIP|XFAIL|TODO)/) { text = ": " OUT[i]; break }
        conclude("fail", CASE, "exit status " status text)
    }
}

# The bits of the exit status: 1 TFAIL, 2 TBROK, 4 TWARN, 32 TCONF; and lines such as `FILE:LINE: TFAIL: TEXT`.
function ltp(status,    i, line, word, texts, counts, late) {
    outputs()
    for (i = 1; i <= OUTPUTS; i++) {
        line = OUT[i]
        if (line ~ /Test (timeouted|timed out|killed! \(timeout\?\))/) late = 1
        if (!sub(/^([^ \t]+:[0-9]+:[ \t]+|[^ \t]+[ \t]+[0-9]+[ \t]+)/, "", line)) continue
        if (!match(line, /^T(PASS|FAIL|BROK|WARN|CONF)[ \t]*:/)) continue
        word = substr(line, 1, 5)
        line = substr(line, RLENGTH + 1)
        sub(/^[ \t]+/, "", line)
        if (!counts[word]++) texts[word] = line
    }
    if (late) conclude("hang", CASE, "it ended by its own time limit")
    else if (counts["TFAIL"]) conclude("fail", CASE, texts["TFAIL"])
    else if (status == 126) conclude("broken", CASE, "by the case: its command cannot be executed (exit status 126)")
    else if (status == 127) conclude("broken", CASE, "by the case: its command was not found (exit status 127)")
    else if (status >= 129 && status <= 192) conclude("fail", CASE, "the case was killed by signal " (status - 128))
    else if (status % 2 || int(status / 8) % 4 || status >= 64) conclude("fail", CASE, "exit status " status)
    else if (int(status / 2) % 2 || counts["TBROK"]) conclude("broken", CASE, "by the case: " (counts["TBROK"] ? texts["TBROK"] : "exit status " status))
    else if (int(status / 4) % 2 || counts["TWARN"]) conclude("broken", CASE, "by the case: " (counts["TWARN"] ? texts["TWARN"] : "exit status " status))
    else if ((int(status / 32) % 2 || counts["TCONF"]) && !counts["TPASS"]) conclude("skip", CASE, counts["TCONF"] ? texts["TCONF"] : "exit status " status)
    else conclude("pass", CASE, "")
}
