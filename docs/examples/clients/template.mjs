// A client of your own for Node: chaosproxy check -- node template.mjs
async function* words() {
  // Yields the text of one answer as it comes; asks CHAOSPROXY_URL and not its provider.
  throw new Error(`not written: ${process.env.CHAOSPROXY_URL}`);
}

let text = "";
let error = null;
try {
  for await (const word of words()) text += word;
} catch (raised) {
  error = `${raised.constructor.name}: ${raised.message}`;
}
console.log(JSON.stringify({ text, finish: null, outcome: error ? "raised" : "ok", error }));
