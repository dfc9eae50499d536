// The timeline of a trace. A canvas as large as the viewport sticks in a sheet as tall as all lanes. What is drawn
// are items: the intervals, and behind them the events, which end when they begin. Times are in ticks.
(() => {
  "use strict";
  const AXIS = 24, GAP = 2, CHARACTER = 6.7, EVENT = 255, LABEL = 0xffffff, SHORTEST = 10;
  const BANDS = [["calls", 13], ["intervals", 14], ["events", 11]];
  const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
  const NONE = { wanted: [], items: [], order: [], times: [], lanes: [] };
  // How much of its band a state fills, and how its hatching leans: colour is not the only sign.
  const SHAPES = {
    running: [1], runnable: [2 / 3], sleeping: [.2], blocked: [1, 6], idle: [.07], "system call": [1], interrupt: [1, 0],
  };

  const root = document.getElementById("timeline");
  root.hidden = false;
  const trace = load();
  if (!trace) return;
  const { unit, end, states, labels, lanes, pitch, start, stop, what } = trace;

  function load() {
    try {
      const trace = decode();
      if (trace.what.length && trace.lanes.length) return trace;
      root.append(make("p", {}, "There is no timeline: nothing was recorded."));
    } catch (error) {
      root.append(make("p", {}, `There is no timeline: its data in this page is damaged (${error.message}).`));
    }
  }

  function decode() {
    const content = id => document.getElementById(id).textContent;
    const { unit, end, intervals, events, states, labels, lanes } = JSON.parse(content("timeline-lanes"));
    const text = atob(content("timeline-data"));
    const areCounts = (...numbers) => numbers.every(number => Number.isInteger(number) && number >= 0);
    if (!areCounts(intervals, events) || text.length !== 12 * intervals + 8 * events) throw new Error("wrong size");
    if (!(unit > 0 && end >= 0 && end < 2 ** 32)) throw new Error("wrong times");
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at);
    const numbers = (first, count) => new Uint32Array(bytes.buffer, 4 * first, count);
    const join = (ofIntervals, ofEvents) => {
      const items = new Uint32Array(intervals + events);
      items.set(ofIntervals);
      items.set(ofEvents, intervals);
      return items;
    };
    const times = numbers(3 * intervals, events);
    const names = numbers(3 * intervals + events, events).map(label => EVENT << 24 | label);
    let pitch = GAP;
    const bands = BANDS.filter(([key]) => lanes.some(lane => lane[key]?.[1])).map(([key, height]) => {
      const y = pitch;
      pitch += height + GAP;
      return { key, y, height };
    });
    const bandOf = (lane, { key, y, height }) => {
      const [first, count] = lane[key] ?? [0, 0];
      const [offset, limit] = key === "events" ? [intervals, events] : [0, intervals];
      if (!areCounts(first, count) || first + count > limit) throw new Error("wrong lane");
      return { first: offset + first, last: offset + first + count, y, height };
    };
    return {
      unit, end: Math.max(end, 1), states: states.map(String), labels: labels.map(String), pitch: Math.max(pitch, 18),
      lanes: lanes.map(lane => ({
        name: String(lane.name), isCpu: lane.kind === "cpu", bands: bands.map(band => bandOf(lane, band)),
      })),
      start: join(numbers(0, intervals), times), stop: join(numbers(intervals, intervals), times),
      what: join(numbers(2 * intervals, intervals), names),
    };
  }

  function make(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    made.append(...children);
    return made;
  }

  // The first place from low to high whose number is not less. The numbers ascend.
  function search(numbers, number, low = 0, high = numbers.length) {
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (numbers[middle] < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  const canvas = make("canvas", {
    tabindex: 0, role: "application",
    "aria-label": "Timeline: a lane for each CPU and each thread", "aria-describedby": "timeline-hint",
  });
  const tall = AXIS + lanes.length * pitch;
  const scroller = make("div", { class: "lanes", style: `max-height: ${tall + 2}px` },
    make("div", { style: `height: ${tall}px` }, canvas));
  const input = make("input", {
    type: "search", placeholder: "Search (/)", "aria-label": "Search for events, labels and threads",
  });
  const found = make("output", {});
  const selection = make("p", { class: "selection", role: "status" });
  const legend = make("ul", { class: "states-legend" });
  const tip = make("div", { class: "tip", hidden: "", "aria-hidden": "true" });
  const context = canvas.getContext("2d");

  let view = { begin: 0, end }, chosen = { lane: -1, item: -1 };
  let span = null, mark = null, drag = null, frame = 0, saving = 0;
  let query = "", matches = NONE, place = null;
  let width, height, left, scale, colours, looks, threads, pending = null;

  const x = tick => left + (tick - view.begin) * scale;
  const tickAt = x => view.begin + (Math.max(x, left) - left) / scale;
  const topOf = lane => AXIS + lane * pitch - scroller.scrollTop;
  const within = (number, low, high) => Math.min(Math.max(number, low), high);
  const isEvent = item => what[item] >>> 24 === EVENT;
  const label = item => labels[what[item] & LABEL] ?? "?";
  const has = item => band => item >= band.first && item < band.last;
  const laneOf = item => lanes.findIndex(lane => lane.bands.some(has(item)));

  const unitOf = nanoseconds => UNITS.find(([size]) => nanoseconds >= size) ?? UNITS.at(-1);
  const count = number => number.toLocaleString("en");
  const time = tick => `${(tick * unit / 1e9).toFixed(9)} s`;
  const period = (from, to) => {
    const [size, name] = unitOf((to - from) * unit);
    const length = ((to - from) * unit / size).toLocaleString("en", { maximumSignificantDigits: 4 });
    return `${length} ${name} from ${time(from)} to ${time(to)}`;
  };
  const describe = ({ lane, item }) => {
    if (item < 0) return lanes[lane]?.name ?? "";
    const [state, when] = isEvent(item) ? ["event", `at ${time(start[item])}`] :
      [states[what[item] >>> 24] ?? "?", period(start[item], stop[item])];
    return `${lanes[lane].name}: ${state} ${label(item)}\n${when}`;
  };

  // What is drawn.

  function fit() {
    const ratio = devicePixelRatio;
    [width, height] = [scroller.clientWidth, scroller.clientHeight];
    left = Math.min(190, Math.round(width * .3));
    scale = (width - left) / (view.end - view.begin);
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== wide || canvas.height !== high) {
      [canvas.width, canvas.height] = [wide, high];
      [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    [context.font, context.textBaseline] = ["11px ui-monospace, monospace", "middle"];
  }

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    const colour = name => style.getPropertyValue(`--${name}`).trim();
    colours = Object.fromEntries(["back", "text", "faint", "zebra", "ink", "match"].map(name => [name, colour(name)]));
    looks = states.map(name => {
      const [share, lean] = SHAPES[name] ?? [.5];
      return { colour: colour(name.replace(" ", "-")) || colours.faint, share, hatching: lean >= 0 && hatching(lean) };
    });
    looks[EVENT] = { colour: colours.text, share: 1 };
    looks.match = { colour: colours.match, share: 1 };
    threads = Array.from({ length: 12 }, (_, n) => ({ colour: `oklch(${colour("tone")} .1 ${n * 30})`, share: 1 }));
    legend.replaceChildren(...states.map((name, n) => make("li", {}, sample(looks[n]), name)),
      make("li", {}, "On a CPU the colour is that of the thread."));
    redraw();
  }

  function hatching(lean) {
    const tile = make("canvas", { width: 6, height: 6 });
    const pen = tile.getContext("2d");
    [pen.strokeStyle, pen.lineWidth, pen.globalAlpha] = [colours.back, 2, .6];
    for (const from of [-6, 0, 6]) {
      pen.moveTo(from, 6);
      pen.lineTo(from + lean, 0);
    }
    pen.stroke();
    return context.createPattern(tile, "repeat");
  }

  function sample(look) {
    const canvas = make("canvas", { width: 30, height: 14 });
    bar(canvas.getContext("2d"), look, 0, 0, 30, 14);
    return canvas;
  }

  // Neighbours of the same look become one bar: that is what makes millions of them fast.
  function put(look, x, y, width, height) {
    const last = pending;
    if (last?.look === look && last.x + last.width === x && last.y === y && last.height === height) {
      last.width += width;
    } else {
      flush();
      pending = { look, x, y, width, height };
    }
  }

  function flush() {
    if (pending) bar(context, pending.look, pending.x, pending.y, pending.width, pending.height);
    pending = null;
  }

  function bar(pen, { colour, share, hatching }, x, y, width, height) {
    const high = Math.ceil(share * height);
    box(pen, colour, x, y + height - high, width, high);
    if (hatching && width > 3) box(pen, hatching, x, y + height - high, width, high);
  }

  function box(pen, fill, x, y, width, height) {
    pen.fillStyle = fill;
    pen.fillRect(x, y, width, height);
  }

  function outline(colour, x, y, width, height) {
    [context.strokeStyle, context.lineWidth] = [colour, 2];
    context.strokeRect(x, y, width, height);
  }

  function write(text, x, y, room, colour) {
    const most = Math.floor(room / CHARACTER);
    if (most < Math.min(text.length, 6)) return;
    flush();
    context.fillStyle = colour;
    context.fillText(text.length > most ? `${text.slice(0, most - 1)}…` : text, x, y, room);
  }

  // Visits one item for each column of pixels at most: the work depends on what is seen, not on what there is.
  function columns(band, visit, wanted = item => item) {
    let edge = left;
    let item = wanted(search(stop, view.begin, band.first, band.last));
    while (item < band.last && start[item] < view.end) {
      const from = Math.max(edge, Math.floor(x(start[item])));
      edge = within(Math.floor(x(stop[item])), from + 1, width);
      const next = wanted(search(stop, tickAt(edge), item + 1, band.last));
      visit(item, from, edge - from, next);
      item = next;
    }
  }

  function drawInterval(lane, band, y, item, from, room) {
    const state = what[item] >>> 24;
    const isThread = lane.isCpu && room > 2 && states[state] === "running";
    const look = isThread ? threads[(what[item] & LABEL) % threads.length] : looks[state] ?? looks[EVENT];
    put(look, from, y, room > 2 ? room - 1 : room, band.height);
    if (states[state] !== "idle") write(label(item), from + 3, y + band.height / 2, room - 6, colours.ink);
  }

  function drawEvents(band, y, item, from, next) {
    const high = Math.min(band.height, 3 + Math.round(Math.log2(next - item)));
    put(looks[EVENT], from, y + band.height - high, 1, high);
    const room = (next < band.last ? x(start[next]) : width) - from - 6;
    write(label(item), from + 3, y + band.height / 2, room, colours.text);
  }

  function drawLane(index) {
    const lane = lanes[index];
    const top = topOf(index);
    box(context, index % 2 ? colours.zebra : colours.back, 0, top, width, pitch);
    const isWanted = item => matches.wanted[what[item] & LABEL];
    const wanted = item => isWanted(item) ? item : matches.items[search(matches.items, item)] ?? Infinity;
    for (const band of lane.bands) {
      const y = top + band.y;
      columns(band, (item, from, room, next) => isEvent(item) ?
        drawEvents(band, y, item, from, next) : drawInterval(lane, band, y, item, from, room));
      const mark = item => isEvent(item) ? band.height : 3;
      columns(band, (item, from, room) => put(looks.match, from, y, room, mark(item)), wanted);
      flush();
    }
    write(lane.name, 8, top + pitch / 2, left - 16, colours.text);
    if (matches.lanes.includes(index)) outline(colours.match, 4, top + 3, left - 10, pitch - 6);
    if (index === chosen.lane) outline(colours.text, 1, top + 1, left - 3, pitch - 2);
    if (lane.isCpu && !lanes[index + 1]?.isCpu) box(context, colours.faint, 0, top + pitch - 1, width, 1);
  }

  function drawAxis() {
    const least = 130 * unit / scale;
    const power = 10 ** Math.floor(Math.log10(least));
    const step = power * [1, 2, 5, 10].find(factor => factor * power >= least);
    const [size, name] = unitOf(step);
    box(context, colours.back, 0, 0, width, AXIS);
    box(context, colours.faint, 0, AXIS - 1, width, 1);
    for (let at = Math.ceil(view.begin * unit / step) * step; at < view.end * unit; at += step) {
      const [column, text] = [Math.round(x(at / unit)), `${count(at / size)} ${name}`];
      const room = width - column - 4;
      box(context, colours.faint, column, 4, 1, AXIS - 4);
      // Part of a number would be another number.
      if (room > text.length * CHARACTER) write(text, column + 4, 10, room, colours.text);
    }
    let at = search(matches.times, view.begin);
    while (matches.times[at] <= view.end) {
      const column = Math.floor(x(matches.times[at]));
      box(context, colours.match, column, AXIS - 6, 1, 5);
      at = search(matches.times, tickAt(column + 1), at + 1);
    }
  }

  function drawChosen({ lane, item }) {
    if (item < 0 || stop[item] < view.begin || start[item] > view.end) return;
    const { y, height: high } = lanes[lane].bands.find(has(item));
    const edges = [start[item], stop[item]].map(tick => Math.round(x(tick)));
    for (const edge of edges) if (edge >= left) box(context, colours.faint, edge, AXIS, 1, height);
    const [from, to] = edges.map(edge => within(edge, left, width));
    outline(colours.text, from - 1, topOf(lane) + y - 1, to - from + 3, high + 2);
  }

  function drawSpan() {
    const [from, to] = [span.begin, span.end].map(tick => within(x(tick), left, width));
    context.globalAlpha = .25;
    box(context, colours.faint, from, AXIS, to - from, height);
    context.globalAlpha = 1;
    outline(colours.text, from, AXIS, to - from, height);
  }

  function draw() {
    frame = 0;
    fit();
    if (width <= left) return;
    box(context, colours.back, 0, 0, width, height);
    const first = Math.floor(scroller.scrollTop / pitch);
    for (let lane = first; lane < lanes.length && topOf(lane) < height; lane++) drawLane(lane);
    box(context, colours.faint, left - 1, 0, 1, height);
    drawChosen(chosen);
    if (span) drawSpan();
    drawAxis();
  }

  function redraw() {
    frame ||= requestAnimationFrame(draw);
  }

  // What is seen and selected; the address keeps it.

  function changed() {
    redraw();
    clearTimeout(saving);
    saving = setTimeout(save, 300);
  }

  function save() {
    const [begin, close] = [view.begin * unit, view.end * unit].map(Math.round);
    const hash = new URLSearchParams({ t: `${begin}-${close}`, y: Math.round(scroller.scrollTop) });
    if (chosen.lane >= 0) hash.set("lane", lanes[chosen.lane].name);
    if (chosen.item >= 0) hash.set("item", chosen.item);
    history.replaceState(null, "", `#${hash}`);
  }

  function restore() {
    const hash = new URLSearchParams(location.hash.slice(1));
    const [begin, close] = (hash.get("t") ?? "").split("-").map(time => Number(time) / unit);
    if (!(close > begin)) return;
    const item = parseInt(hash.get("item"), 10);
    const lane = laneOf(item);
    if (lane < 0) select(lanes.findIndex(lane => lane.name === hash.get("lane")));
    else select(lane, item);
    show(begin, close);
    scroller.scrollTop = Number(hash.get("y"));
  }

  function show(begin, close) {
    const length = Math.min(Math.max(close - begin, SHORTEST), end);
    view.begin = within(begin, 0, end - length);
    view.end = view.begin + length;
    changed();
  }

  function zoom(factor, at = (view.begin + view.end) / 2) {
    const allowed = Math.max(factor, SHORTEST / (view.end - view.begin));
    show(at - (at - view.begin) * allowed, at + (view.end - at) * allowed);
  }

  function pan(share) {
    const way = share * (view.end - view.begin);
    show(view.begin + way, view.end + way);
  }

  function select(lane, item = -1) {
    chosen = { lane, item };
    if (mark !== null && item >= 0) measure(mark, start[item]);
    selection.textContent = describe(chosen) + (span ? `\nSpan: ${period(span.begin, span.end)}` : "");
    changed();
  }

  function measure(from, to) {
    span = { begin: Math.min(from, to), end: Math.max(from, to) };
  }

  function go(lane, item = -1) {
    if (lane < 0) return;
    select(lane, item);
    const room = height - AXIS - pitch;
    if (topOf(lane) < AXIS || topOf(lane) > AXIS + room) scroller.scrollTop = lane * pitch - room / 2;
    if (item < 0) return;
    const length = view.end - view.begin;
    const begin = start[item] - Math.max(length - (stop[item] - start[item]), 0) / 2;
    show(begin, begin + length);
  }

  function zoomToSelection() {
    const { item } = chosen;
    const margin = (stop[item] - start[item]) / 20 || (view.end - view.begin) / 16;
    if (span) show(span.begin, span.end);
    else if (item >= 0) show(start[item] - margin, stop[item] + margin);
  }

  // Selects the item before or behind the selected one, of whichever band of the lane.
  function neighbour(step) {
    const lane = Math.max(chosen.lane, 0);
    const { bands } = lanes[lane];
    const here = chosen.item < 0 ? -1 : bands.findIndex(has(chosen.item));
    const now = here < 0 ? Math.ceil(view.begin) : start[chosen.item];
    const near = bands.map(({ first, last }, n) => {
      if (n === here) return chosen.item + step;
      return search(start, n > here ? now : now + 1, first, last) - (step < 0 ? 1 : 0);
    }).filter((item, n) => has(item)(bands[n]));
    if (near.length) go(lane, near.reduce((a, b) => (step > 0 ? start[b] < start[a] : start[b] >= start[a]) ? b : a));
  }

  function clear() {
    [span, mark, tip.hidden] = [null, null, true];
    select(-1);
  }

  // Search: first the names of lanes, then all else by time.

  function match(text) {
    const wanted = labels.map(label => label.toLowerCase().includes(text));
    const items = new Uint32Array(what.length).map((_, item) => item).filter(item => wanted[what[item] & LABEL]);
    // A time and below it an item in a number of 64 bits, as typed arrays of numbers sort fast.
    const pairs = new Uint32Array(2 * items.length);
    for (let n = 0; n < items.length; n++) [pairs[2 * n], pairs[2 * n + 1]] = [items[n], start[items[n]]];
    new BigUint64Array(pairs.buffer).sort();
    return {
      wanted, items, order: items.map((_, n) => pairs[2 * n]), times: items.map((_, n) => pairs[2 * n + 1]),
      lanes: [...lanes.keys()].filter(lane => lanes[lane].name.toLowerCase().includes(text)),
    };
  }

  function find() {
    const text = input.value.toLowerCase();
    if (text === query) return;
    [query, matches, place] = [text, text ? match(text) : NONE, null];
    const total = matches.lanes.length + matches.items.length;
    found.textContent = text && (total ? `${count(total)} found` : "not found");
    redraw();
  }

  function next(step) {
    find();
    const names = matches.lanes.length;
    const total = names + matches.items.length;
    if (!total) return;
    const first = names ? 0 : search(matches.times, view.begin) % total;
    place = place === null ? first : (place + step + total) % total;
    found.textContent = `${count(place + 1)} of ${count(total)}`;
    if (place < names) go(matches.lanes[place]);
    else go(laneOf(matches.order[place - names]), matches.order[place - names]);
  }

  // Keys and pointers.

  const KEYS = [
    ["w + =", "zoom in", () => zoom(1 / 1.5)],
    ["s -", "zoom out", () => zoom(1.5)],
    ["a ArrowLeft", "earlier", () => pan(-.2)],
    ["d ArrowRight", "later", () => pan(.2)],
    ["0 Home", "show all of it", () => show(0, end)],
    ["ArrowUp", "select the lane above", () => go(Math.max(chosen.lane - 1, 0))],
    ["ArrowDown", "select the lane below", () => go(Math.min(chosen.lane + 1, lanes.length - 1))],
    [",", "select what is before in the lane", () => neighbour(-1)],
    [".", "select what is next in the lane", () => neighbour(1)],
    ["Enter", "zoom to what is selected", zoomToSelection],
    ["m", "measure from what is selected to what will be", () => { mark = start[chosen.item] ?? null; }],
    ["/", "search", () => input.focus()],
    ["n", "next match", () => next(1)],
    ["N", "previous match", () => next(-1)],
    ["Escape", "leave the search, or select nothing", clear],
    ["?", "show or hide the keys", () => { keys.open = !keys.open; }],
  ];
  const row = ([names, meaning]) => make("tr", {},
    make("th", { scope: "row" }, names.replace("Arrow", "").replace(/ /g, ", ")), make("td", {}, meaning));
  const keys = make("details", { class: "keys" }, make("summary", {}, "Keys"),
    make("table", {}, make("tbody", {}, ...KEYS.map(row))));
  const actions = new Map(KEYS.flatMap(([names, , action]) => names.split(" ").map(name => [name, action])));

  function pointed({ offsetX, offsetY }) {
    const y = Math.floor(offsetY - AXIS + scroller.scrollTop);
    const lane = offsetY < AXIS || y >= lanes.length * pitch ? -1 : Math.floor(y / pitch);
    const band = lanes[lane]?.bands.find(band => y % pitch < band.y + band.height);
    if (offsetX < left || !band) return { lane, item: -1 };
    const tick = tickAt(offsetX);
    const far = item => Math.max(start[item] - tick, tick - stop[item], 0) * scale;
    const next = search(stop, tick, band.first, band.last);
    const near = [next, next - 1].filter(item => has(item)(band) && far(item) < 5).sort((a, b) => far(a) - far(b));
    return { lane, item: near[0] ?? -1 };
  }

  function hover(event) {
    const there = pointed(event);
    tip.hidden = there.lane < 0 || there.item < 0 && event.offsetX >= left;
    tip.textContent = describe(there);
    tip.style.left = `${Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)}px`;
    const isLow = event.clientY + 16 + tip.offsetHeight > innerHeight;
    tip.style.top = `${isLow ? event.clientY - 12 - tip.offsetHeight : event.clientY + 16}px`;
  }

  function move({ offsetX, offsetY }) {
    const [byX, byY] = [offsetX - drag.x, offsetY - drag.y];
    drag.moved ||= Math.hypot(byX, byY) > 4;
    if (!drag.moved) return;
    if (drag.measures) {
      mark = null;
      measure(drag.tick, Math.min(tickAt(offsetX), view.end));
      select(chosen.lane, chosen.item);
    } else {
      show(drag.begin - byX / scale, drag.begin - byX / scale + view.end - view.begin);
      scroller.scrollTop = drag.top - byY;
    }
  }

  const listeners = {
    pointerdown: event => {
      if (event.button) return;
      canvas.setPointerCapture(event.pointerId);
      tip.hidden = true;
      const { offsetX: x, offsetY: y, shiftKey: measures } = event;
      drag = { x, y, measures, tick: tickAt(x), begin: view.begin, top: scroller.scrollTop };
    },
    pointermove: event => drag ? move(event) : hover(event),
    pointerup: event => {
      if (drag && !drag.moved) {
        const { lane, item } = pointed(event);
        if (mark === null) span = null;
        select(lane, item);
      }
      drag = null;
    },
    pointercancel: () => { drag = null; },
    pointerleave: () => { tip.hidden = true; },
    dblclick: zoomToSelection,
  };
  for (const type in listeners) canvas.addEventListener(type, listeners[type]);
  canvas.addEventListener("wheel", event => {
    const [byX, byY] = [event.deltaX, event.deltaY].map(by => event.deltaMode ? 16 * by : by);
    if (event.ctrlKey || event.metaKey) zoom(Math.exp(.0035 * byY), tickAt(event.offsetX));
    else if (event.shiftKey || Math.abs(byX) > Math.abs(byY)) pan((byX || byY) / (width - left));
    else return;
    event.preventDefault();
  }, { passive: false });
  root.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === input) return;
    const action = actions.get(event.key);
    if (!action || event.key === "Enter" && event.target !== canvas) return;
    event.preventDefault();
    action();
  });
  input.addEventListener("keydown", event => {
    if (event.key === "Enter") next(event.shiftKey ? -1 : 1);
    if (event.key !== "Escape") return;
    // Or the browser empties the field.
    event.preventDefault();
    canvas.focus();
  });
  input.addEventListener("input", () => setTimeout(find, 100));
  scroller.addEventListener("scroll", () => {
    tip.hidden = true;
    changed();
  });
  addEventListener("hashchange", restore);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readColours);

  const button = pair => {
    const [sign, key] = pair.split(" ");
    const [, meaning, action] = KEYS.find(([names]) => names.startsWith(key));
    const made = make("button", { type: "button", title: `${meaning} (${key})`, "aria-label": meaning }, sign);
    made.addEventListener("click", action);
    return made;
  };
  root.append(
    make("div", { class: "tools" },
      ...["← a", "→ d", "− s", "+ w", "All 0"].map(button), input, ...["↑ N", "↓ n"].map(button), found),
    make("p", { id: "timeline-hint", class: "note" }, "The wheel scrolls, Ctrl+wheel zooms, dragging and Shift+wheel pan, "
      + "a double-click zooms to what is there, Shift+dragging measures a span, ? shows the keys."),
    scroller, selection, legend, keys, tip);
  fit();
  readColours();
  restore();
  new ResizeObserver(redraw).observe(scroller);
  canvas.focus({ preventScroll: true });
})();
