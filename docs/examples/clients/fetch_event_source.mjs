// @microsoft/fetch-event-source, made for browsers.
globalThis.window = globalThis;
globalThis.document = { hidden: false, addEventListener() {}, removeEventListener() {} };

const { fetchEventSource } = await import("@microsoft/fetch-event-source");
const { chat, question, run } = await import("./answer.mjs");

await run(async (answer) => {
  const leaving = new AbortController();
  const onmessage = ({ event, data }) => {
    if (event === "error") answer.flag = `an event: ${data}`;
    else if (data && answer.data(data)) leaving.abort();
  };
  await fetchEventSource(chat, { ...question, signal: leaving.signal, onmessage });
});
