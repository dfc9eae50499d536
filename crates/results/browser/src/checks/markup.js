// Nothing of a text became markup, and no character in it reorders or hides others.
(() => {
  const faults = [];
  const strange = "iframe, frame, object, embed, base, img, video, audio, meta[http-equiv], link:not([rel=stylesheet], [rel=icon])";
  for (const element of document.querySelectorAll(strange)) faults.push(`it has ${element.outerHTML.slice(0, 200)}`);
  for (const element of document.querySelectorAll("*")) {
    for (const { name, value } of element.attributes) {
      const leads = ["href", "src", "action", "formaction", "xlink:href"].includes(name);
      const { protocol, host } = leads ? new URL(value, location.href) : location;
      const isStrange = protocol !== location.protocol || host !== location.host;
      if (/^on/i.test(name) || name === "srcdoc" || isStrange) faults.push(`it has ${name}=${value.slice(0, 200)}`);
      if (/[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/.test(value)) faults.push(`a control character is in ${name} of ${element.tagName}`);
    }
  }
  for (const script of document.scripts) {
    const isData = script.type !== "" && script.type !== "module";
    if (!isData && /owned|alert/.test(script.textContent)) faults.push(`it has the script ${script.textContent.slice(0, 200)}`);
  }
  if (window.owned !== undefined) faults.push(`a text was run: ${window.owned}`);
  if (/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/.test(document.documentElement.textContent)) {
    faults.push("it has control characters");
  }
  return faults;
})()
