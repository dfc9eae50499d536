// When the server knows more, the page is asked for again. What somebody types, searches, sorts, selects or has unfolded stays.
const status = document.getElementById("live");
let last = document.getElementById("page").innerHTML;
let events, pending = false;
function isBusy(page) {
  return page.contains(document.activeElement) || !getSelection().isCollapsed
    || page.querySelector("details[open], [aria-sort]")
    || [...page.querySelectorAll("input")].some(field => field.value !== field.defaultValue);
}
async function renew() {
  const page = document.getElementById("page");
  const answer = await fetch(location.href).catch(() => null);
  if (!answer?.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("page");
  if (fresh?.innerHTML === last) return;
  if (isBusy(page)) {
    status.textContent = "there is news: reload";
    return;
  }
  // What has come to its end has a page of its own, which is kept apart from all others.
  if (!fresh) {
    location.reload();
    return;
  }
  last = fresh.innerHTML;
  page.replaceChildren(...fresh.childNodes);
  document.dispatchEvent(new Event("renewed"));
}
function changed() {
  status.textContent = "live";
  // Many changes at once are one, and the server has better things to do.
  if (pending) return;
  pending = true;
  setTimeout(() => { pending = false; renew(); }, 1000);
}
// Browsers have six connections to a server: a window that nobody sees leaves its own to others.
function connect() {
  if (document.hidden) {
    events?.close();
    events = undefined;
  } else if (!events) {
    events = new EventSource("/live");
    events.addEventListener("message", changed);
    events.addEventListener("error", () => { status.textContent = "not connected"; });
  }
}
document.addEventListener("visibilitychange", connect);
connect();
