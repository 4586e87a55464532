// The program in its worker: explorer.engine.run(args) is `sextant ARGS`.
'use strict';

(() => {
  const explorer = globalThis.explorer = globalThis.explorer || {};
  const waiting = new Map();  // by id: {resolve, progress}
  let worker = null, next = 0;

  function start() {
    const {glue, worker: source, wasm} = globalThis.sextant_engine;
    const url = URL.createObjectURL(new Blob([glue, '\n', source], {type: 'text/javascript'}));
    worker = new Worker(url);
    URL.revokeObjectURL(url);
    worker.onmessage = ({data}) => {
      if (data.ready) return document.documentElement.dataset.engine = 'ready';
      if (data.broken) return explorer.say('The engine could not start: ' + data.broken);
      const call = waiting.get(data.id);
      if (!call) return;
      if (data.progress !== undefined) return call.progress(data.progress);
      waiting.delete(data.id);
      call.resolve(data);
    };
    worker.onerror = (event) => explorer.say('The engine could not start: ' + event.message);
    worker.postMessage({wasm});
  }

  explorer.engine = {
    // {code, out, err, files}; `read` names files that the command writes.
    run(args, {read = [], files = {}, progress = () => {}} = {}) {
      if (worker === null) start();
      const id = ++next;
      return new Promise((resolve) => {
        waiting.set(id, {resolve, progress});
        worker.postMessage({id, args, read, files});
      });
    },
    // Ends what runs and begins anew; what was asked for is answered with code 130.
    stop() {
      if (worker !== null) worker.terminate();
      worker = null;
      for (const call of waiting.values()) call.resolve({code: 130, out: '', err: 'stopped\n', files: {}});
      waiting.clear();
    },
  };

  // What the program says of a mistake, without its own name: "[plot.width] must be ...".
  explorer.problem = ({err}) => err.split('\n').filter((line) => line !== '')
    .map((line) => line.replace(/^sextant: /, '')).filter((line) => !line.startsWith("see '"))[0] || 'no answer';
})();
