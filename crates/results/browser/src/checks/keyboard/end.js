[...judged.left].map(one => `the keyboard does not reach ${one.outerHTML.slice(0, 120)}`)
