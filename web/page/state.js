// Keeps the state in the address: #view=positions&scheme=alibi. Values are texts; an absent one is the default.
'use strict';

(() => {
  const explorer = globalThis.explorer;
  const listeners = new Set();
  let values = new URLSearchParams(location.hash.slice(1));

  explorer.state = {
    get: (name, fallback = '') => values.get(name) ?? fallback,
    has: (name) => values.has(name),
    names: () => [...values.keys()],
    // null removes a value. The listeners are not called: the caller knows of the change.
    set(changes) {
      for (const [name, value] of Object.entries(changes)) {
        if (value === null || value === undefined) values.delete(name);
        else values.set(name, String(value));
      }
      history.replaceState(null, '', '#' + values.toString());
    },
    on_change(listener) { listeners.add(listener); },
  };
  addEventListener('hashchange', () => {
    values = new URLSearchParams(location.hash.slice(1));
    for (const listener of listeners) listener();
  });
})();
