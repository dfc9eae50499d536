# Finds defects that the kernel reported, and names them.

# What printk puts before a text: level, time stamp, caller.
function message(line,    bracket) {
    sub(/^<[0-9][0-9]?[0-9]?>/, "", line)
    if (match(line, /^\[ *[0-9]+\.[0-9]+\]/)) { line = substr(line, RLENGTH + 1); bracket = 1 }
    if (match(line, /^ ?\[ *[TC][0-9]+\]/)) { line = substr(line, RLENGTH + 1); bracket = 1 }
    if (bracket) sub(/^ /, "", line)
    sub(/[ \t]+$/, "", line)
    return substr(line, 1, LINE_MAX)
}

# Without the names of subsystems that some kernels put before a report's first line.
function headline(line) {
    sub(/^NMI watchdog: /, "", line); sub(/^watchdog: /, "", line); sub(/^rcu: /, "", line)
    sub(/^traps: /, "", line); sub(/^CPU[0-9]*: /, "", line)
    return line
}

function begins(text, start) { return substr(text, 1, length(start)) == start }
function ends(text, end) { return length(text) >= length(end) && substr(text, length(text) - length(end) + 1) == end }
function after(text, mark,    at) { at = index(text, mark); return at ? substr(text, at + length(mark)) : "" }
function before(text, mark,    at) { at = index(text, mark); return at ? substr(text, 1, at - 1) : text }

# `general protection fault: 0000 [#1] SMP`: the text before the error code.
function died(line,    text) {
    text = before(line, " [#")
    if (text == line || after(line, " [#") !~ /^[0-9]*\]/ || text !~ /: [0-9a-fA-F]+$/) return 0
    sub(/: [0-9a-fA-F]+$/, "", text)
    DIED = text
    return 1
}

function is_source(text) { return text ~ /[^:]:[0-9]+$/ }

# Where a WARN() is: WARN_SOURCE and WARN_FUNCTION.
function warned(line,    rest, place, at) {
    if (!begins(line, "WARNING: ")) return 0
    rest = substr(line, 10)
    WARN_SOURCE = ""
    if (begins(rest, "CPU: ")) {
        place = after(rest, " at ")
        if (!index(rest, " at ") || !index(before(rest, " at "), " PID: ")) return 0
        WARN_FUNCTION = place
        if (index(place, " ") && is_source(before(place, " "))) {
            WARN_SOURCE = before(place, " ")
            WARN_FUNCTION = after(place, " ")
        }
        return 1
    }
    at = last_index(rest, ", CPU#")
    if (!at) return 0
    place = substr(rest, 1, at - 1)
    at = last_index(place, " at ")
    if (!at) {
        WARN_FUNCTION = substr(place, 4)
        return begins(place, "at ")
    }
    WARN_FUNCTION = substr(place, at + 4)
    WARN_SOURCE = substr(place, 1, at - 1)
    sub(/^.* /, "", WARN_SOURCE)
    return is_source(WARN_SOURCE)
}

function last_index(text, mark,    at, found) {
    while (at = index(substr(text, found + 1), mark)) found += at
    return found
}

# The opening that a headline is, or 0.
function opening(head,    i, rest) {
    for (i = 1; i <= OPENINGS; i++) {
        if (PATTERN[i] == "died") { if (died(head)) return i }
        else if (PATTERN[i] == "warned") { if (warned(head)) return i }
        else if (begins(head, START[i])) {
            rest = substr(head, length(START[i]) + 1)
            if (WITHIN[i] == "" || index(rest, WITHIN[i])) return i
        }
    }
    return 0
}

# The name before what the compiler appended.
function plain(name) {
    sub(/^\.+/, "", name)
    return before(name, ".")
}

# The function that a text begins with: `foo+0x12/0x34 [mod]`.
function function_of(text) {
    if (text !~ /^[A-Za-z_.$][A-Za-z0-9_.$]*\+0x/) return ""
    return plain(before(text, "+"))
}

function inner(line) { sub(/^kmemleak:/, "", line); return line }

# The function of a frame; SURE if the unwinder vouches for it.
function frame(line) {
    line = inner(line)
    if (line !~ /^[ \t]/) return ""
    sub(/^[ \t]+/, "", line)
    while (begins(line, "[") && index(line, "]")) { line = after(line, "]"); sub(/^[ \t]+/, "", line) }
    SURE = !begins(line, "? ")
    return function_of(SURE ? line : substr(line, 3))
}

# The kernel function at which the processor was.
function at_processor(line,    name) {
    sub(/^[ \t]+/, "", line)
    if (line ~ /^RIP: [^:]*:/ && line !~ /^RIP: 0033:/) sub(/^RIP: [^:]*:/, "", line)
    else if (!sub(/^(EIP: |pc : |epc : |PC is at |NIP )/, "", line)) return ""
    name = line
    sub(/^.*\] /, "", name)
    name = function_of(name)
    return name != "" ? name : function_of(line)
}

function starts_trace(line) {
    line = inner(line)
    return line ~ /^[ \t]*(Call Trace:|Call trace:|stack backtrace:|backtrace)/
}

function listed(name, list, count,    i, start) {
    for (i = 1; i <= count; i++) {
        start = list[i]
        if (begins(name, start) && (length(name) == length(start) || substr(name, length(start) + 1, 1) == "_" || ends(start, "_"))) return 1
    }
    return 0
}
function is_helper(name) { return listed(name, HELPER, HELPERS) }
function is_entry(name) { return listed(name, ENTRY, ENTRIES) }

# The first function that is no helper; a helper if there are only those.
function culprit(    i, name, traced, helper, guess) {
    for (i = 1; i <= lines; i++) {
        if (starts_trace(report[i])) traced = 1
        name = at_processor(report[i])
        SURE = 1
        if (name == "") name = traced ? frame(report[i]) : ""
        if (name == "") continue
        if (SURE && !is_helper(name)) return name
        if (SURE && helper == "") helper = name
        if (guess == "" && !is_helper(name)) guess = name
    }
    return helper != "" ? helper : guess
}

# The function below the entry into the kernel.
function staller(    i, name, traced, below) {
    for (i = 1; i <= lines; i++) {
        if (starts_trace(report[i])) traced = 1
        if (begins(report[i], " </IRQ>") || begins(report[i], " </NMI>")) below = ""
        name = at_processor(report[i])
        if (name == "") {
            name = traced ? frame(report[i]) : ""
            if (name == "" || !SURE) continue
        }
        if (below != "" && is_entry(name) && !is_helper(below)) return below
        below = name
    }
    return culprit()
}

function after_address(text) {
    sub(/^[ \t]+/, "", text)
    if (begins(text, "[") && index(text, "] ")) text = after(text, "] ")
    return text
}

# The function that takes the lock of which lockdep complains.
function taker(    i, name, wanted) {
    for (i = 1; i <= lines; i++) {
        if (wanted) {
            name = frame(report[i])
            if (name == "") name = function_of(after_address(report[i]))
            if (name != "") return name
        }
        wanted = ends(report[i], " at:")
        if (index(report[i], " at: ")) {
            name = function_of(after_address(after(report[i], " at: ")))
            if (name != "") return name
        }
    }
    return culprit()
}

# A text without what changes from boot to boot.
function clean(text,    words, count, i, out) {
    count = split(text, words, /[ \t]+/)
    for (i = 1; i <= count; i++) {
        if (words[i] == "" || words[i] ~ /^\[[a-z][A-Za-z0-9_.]*[],]$/) continue
        if (out != "") out = out " "
        out = clean_word(words[i], out)
    }
    return out
}

function clean_word(word, out,    part) {
    while (word != "") {
        if (!match(word, /^[A-Za-z0-9_.]+/)) { out = out substr(word, 1, 1); word = substr(word, 2); continue }
        part = substr(word, 1, RLENGTH)
        word = substr(word, RLENGTH + 1)
        if (begins(word, "+0x")) { out = out plain(part); sub(/^\+0x[0-9a-fA-Fx\/]*/, "", word) }
        else if (is_address(part) && !ends(out, "exitcode=")) out = out "ADDR"
        else if (is_changing(part, out)) out = out "N"
        else out = out part
    }
    return out
}

function is_address(part,    digits) {
    digits = part
    if (sub(/^0x/, "", digits)) return digits ~ /^[0-9a-fA-F]+$/
    return length(part) >= 8 && part ~ /[0-9]/ && part ~ /^[0-9a-fA-F]+$/
}

function is_changing(part, out,    digits) {
    digits = part
    while (sub(/ms$/, "", digits)) continue
    while (sub(/s$/, "", digits)) continue
    if (digits !~ /^[0-9]+$/) return 0
    return length(digits) >= 3 || digits != part || out ~ /(CPU#|CPU |cpu |CPU: |PID: |pid |comm\/|task )$/
}

function source(place) { while (sub(/^\.\.?\//, "", place)) continue; return place }
function within(text, name) { return name == "" ? text : text " in " name }

function title(o, head,    text, name, kind, at, end, i) {
    kind = TITLE[o]; text = SAYS[o]
    if (kind == "stack") text = within(text, culprit())
    else if (kind == "stalled") text = within(text, staller())
    else if (kind == "taker") text = within(text, taker())
    else if (kind == "panic") text = "Kernel panic: " clean(after(head, ": "))
    else if (kind == "head") {
        name = function_of(after(head, " in "))
        if (name != "" && is_helper(name)) { text = culprit(); text = within(clean(before(head, " in ")), text == "" ? name : text) }
        else { text = clean(before(head, " (target: ")); sub(/CFI failure at /, "CFI failure in ", text) }
    } else if (kind == "warned") {
        warned(head)
        name = function_of(WARN_FUNCTION)
        if (name != "" && is_helper(name)) { text = culprit(); text = within("WARNING", text == "" ? name : text) }
        else if (name != "") text = within("WARNING", name)
        else if (WARN_SOURCE != "") text = "WARNING at " source(WARN_SOURCE)
        else text = within("WARNING", culprit())
    } else if (kind == "died") {
        died(head)
        text = DIED
        if (text != "Oops") sub(/^Oops: /, "", text)
        text = clean(before(text, ","))
        text = within(text == "" ? "Oops" : text, culprit())
    } else if (kind == "slab") {
        split(head, SLAB, " ")
        name = SLAB[2]
        if (match(name, /^kmalloc-rnd-[^-]*-/)) name = "kmalloc-rnd-NN-" substr(name, RLENGTH + 1)
        text = "BUG " name ": " clean(after(head, "): "))
    } else if (kind == "until") text = until(head, text)
    if (text ~ /^[ \t]*$/) text = head
    sub(/[ \t]+$/, "", text)
    return substr(text, 1, TITLE_MAX)
}

function until(head, ends_in,    text, name, at, end, i) {
    if (begins(head, "UBSAN: ")) {
        text = substr(head, 8)
        name = culprit()
        if (name == "") name = source(after(text, " in "))
        return "UBSAN: " clean(before(text, " in ")) " in " name
    }
    if (begins(head, "kernel BUG at ")) {
        text = substr(head, 15)
        name = function_of(text)
        return name != "" ? "kernel BUG in " name : "kernel BUG at " source(before(text, "!"))
    }
    # The first of the ends may stand inside of the opening itself.
    at = index(head, " ")
    end = length(head)
    for (i = at + 1; i <= length(head); i++) if (index(ends_in, substr(head, i, 1))) { end = i - 1; break }
    text = substr(head, 1, end)
    sub(/[ \t]+$/, "", text)
    text = clean(text)
    return length(text) > at ? text : clean(head)
}

# What the lines inside of a report look like.
function is_inside(line,    i) {
    if (line ~ /^[ \t]/ || line ~ /^[A-Za-z0-9][A-Za-z0-9]+ *:[ \t]*[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]/) return 1
    if (line ~ /^[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]/) return 1
    if (begins(line, "---[ end ") || starts_trace(line)) return 1
    for (i = 1; i <= INSIDES; i++) if (begins(line, INSIDE[i])) return 1
    for (i = 1; i <= ENDINGS; i++) if (ends(line, ENDING[i])) return 1
    return 0
}

# Whether an opening only follows from the report that is being read.
function follows(o, head,    says, unfolded) {
    unfolded = !closed && !traced
    says = ROLE[open] == "text" || ROLE[open] == "cause"
    if (panicked) return 1
    if (ROLE[o] == "text") return unfolded && ROLE[open] == "trap"
    if (ROLE[o] == "trap") return (unfolded && says) || (since <= PATIENCE && (index(open_head, ": Objects remaining") || index(open_head, ": detected buffer overflow: ")))
    if (ROLE[o] == "death") return begins(open_head, "BUG: KASAN") || (unfolded && (says || ROLE[open] == "trap"))
    # Nothing but a report comes before a panic, and the report is what counts.
    return ROLE[o] == "panic" || (ROLE[o] == "cause" && since <= PATIENCE && begins(open_head, "BUG: KASAN"))
}

function add(line) { if (lines < LINES_MAX) report[++lines] = line; if (starts_trace(line)) { traced = 1; ended = 0 } else if (line ~ /^(---\[ end |[ \t]*<\/TASK>)/) ended = 1 }

# Whether the report that was read is one that the case does not provoke on purpose; CAUSE is its title.
function unexpected(    i, j) {
    if (!open) return 0
    CAUSE = title(open, open_head)
    for (i = 1; i <= EXPECTS; i++) {
        if (index(CAUSE, EXPECT[i])) return 0
        for (j = 1; j <= lines && j <= 10; j++) if (index(report[j], EXPECT[i])) return 0
    }
    return 1
}

# Finds the first unexpected report among text[from..to]: its title is CAUSE, its lines are report[1..lines].
function scan(text, from, to,    i, line, o, head, pending) {
    open = lines = panicked = 0
    for (i = from; i <= to; i++) {
        line = message(text[i])
        head = headline(line)
        o = opening(head)
        if (o && open && follows(o, head)) {
            if (ROLE[o] == "text" && ROLE[open] == "trap" && !traced) { open = o; open_head = head }
            if (ROLE[o] == "panic") panicked = 1
            closed = ended = since = pending = traced = 0
            add(line)
        } else if (o) {
            if (unexpected()) return 1
            open = o; open_head = head; panicked = ROLE[o] == "panic"
            lines = closed = ended = since = pending = traced = 0
            add(line)
        } else if (open && !closed) {
            if (panicked || is_inside(line)) { add(line); pending = 0 }
            else if (++pending > (ended ? PATIENCE_AT_END : PATIENCE)) closed = 1
        } else since++
    }
    return unexpected()
}
