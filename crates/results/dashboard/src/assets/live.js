// When the server knows more, the page is asked for again; what somebody types or has unfolded stays.
const status = document.getElementById("live");
const events = new EventSource("/live");
let pending = false;
async function renew() {
  const page = document.getElementById("page");
  const isBusy = page.contains(document.activeElement) && document.activeElement !== document.body;
  if (isBusy || page.querySelector("details[open]")) {
    status.textContent = "there is news: reload";
    return;
  }
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("page");
  if (fresh && fresh.innerHTML !== page.dataset.last) {
    page.replaceChildren(...fresh.childNodes);
    document.dispatchEvent(new Event("renewed"));
  }
}
events.addEventListener("message", () => {
  status.textContent = "live";
  // Many changes at once are one, and the server has better things to do.
  if (pending) return;
  pending = true;
  setTimeout(() => { pending = false; renew(); }, 1000);
});
events.addEventListener("error", () => { status.textContent = "not connected"; });
