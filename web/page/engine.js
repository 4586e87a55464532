// The program in a worker: explorer.engine.run(args) is `sextant ARGS`. explorer.new_engine() uses a separate worker.
'use strict';

(() => {
  const explorer = globalThis.explorer = globalThis.explorer || {};

  // The worker may fail while the page is loading, before there is a place for messages.
  const complain = (text) => document.readyState === 'loading' ? addEventListener('DOMContentLoaded', () => explorer.say(text)) : explorer.say(text);

  function new_worker() {
    const {glue, worker: source, wasm} = globalThis.sextant_engine;
    const url = URL.createObjectURL(new Blob([glue, '\n', source], {type: 'text/javascript'}));
    const worker = new Worker(url);
    URL.revokeObjectURL(url);
    worker.onerror = (event) => complain('The engine could not start: ' + event.message);
    worker.postMessage({wasm});
    return worker;
  }

  const kStopped = {code: 130, out: '', err: 'stopped\n', files: {}};

  explorer.new_engine = () => {
    let worker = null, next = 0, running = null, memory = 0;
    let waiting = [];  // calls that were not sent to the worker yet and can still be dropped
    const watchers = new Set();
    const tell = () => watchers.forEach((watch) => watch(running));

    function post() {
      if (running !== null || waiting.length === 0) return;
      if (worker === null) start();
      running = waiting.shift();
      running.began = performance.now();
      const {id, args, read, files, pick, packed, line, watch} = running;
      worker.postMessage({id, args, read, files, pick, packed, lines: line !== null, watch});
      tell();
    }

    function start() {
      worker = new_worker();
      worker.onmessage = ({data}) => {
        if (data.ready) return document.documentElement.dataset.engine = 'ready';
        if (data.broken) return complain('The engine could not start: ' + data.broken);
        if (running === null || data.id !== running.id) return;
        if (data.line !== undefined) return running.line(data.line);
        if (data.folder !== undefined) return running.folder(data.folder);
        if (data.progress !== undefined) {
          running.said = data.progress;
          running.progress(data.progress);
          return tell();
        }
        const call = running;
        running = null;
        memory = data.memory;
        call.resolve(data);
        post();
        tell();
      };
    }

    return {
      // Starts the worker before it is needed.
      warm() { if (worker === null) start(); },
      // line(text) gets every line as it is printed; folder({name: bytes}) gets the folder `watch` after each checkpoint.
      // Returns {code, out, err, files}; `read` names files that the command writes, `pick` fields of its JSON (worker.js). Of waiting
      // calls with the same `key` only the newest is made; the others are answered with {stale: true}.
      run(args, {read = [], files = {}, packed = {}, pick = [], line = null, watch = '', folder = () => {}, progress = () => {}, key = ''} = {}) {
        return new Promise((resolve) => {
          if (key !== '') {
            for (const call of waiting.filter((one) => one.key === key)) call.resolve({...kStopped, stale: true});
            waiting = waiting.filter((one) => one.key !== key);
          }
          waiting.push({id: ++next, args, read, files, packed, pick, line, watch, folder, progress, key, resolve});
          post();
        });
      },
      // Ends the running call and starts a new worker; all calls are answered with code 130. The worker's files are lost.
      stop() {
        if (worker !== null) worker.terminate();
        worker = null;
        const calls = [...(running ? [running] : []), ...waiting];
        running = null;
        waiting = [];
        for (const call of calls) call.resolve({...kStopped});
        tell();
      },
      memory: () => memory,  // bytes of the program's memory
      // Calls watch(call or null) whenever a new call runs or reports progress: {args, began, said}.
      watch(watch) { watchers.add(watch); },
    };
  };
  explorer.engine = explorer.new_engine();
  explorer.engine.warm();

  // The error message of the program without the program's name: "[plot.width] must be ...".
  explorer.problem = ({err}) => err.split('\n').filter((line) => line !== '')
    .map((line) => line.replace(/^sextant: /, '')).filter((line) => !line.startsWith("see '"))[0] || 'no answer';
})();
