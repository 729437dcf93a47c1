// The package eventsource: a stream of words, asked for with GET, that ends with a status 204 when all have come.
import { EventSource } from "eventsource";
import { run, url } from "./answer.mjs";

setInterval(() => {}, 60_000); // what it waits with before it tries again does not keep a program alive

await run(
  (answer) =>
    new Promise((resolve, reject) => {
      const source = new EventSource(`${url}/sse`);
      source.onmessage = ({ data }) => (answer.text += (answer.text && " ") + data);
      source.onerror = ({ code, message }) => {
        if (source.readyState !== EventSource.CLOSED) return; // it tries again
        if (code !== 204) return reject(new Error(message));
        resolve();
      };
    }),
);
