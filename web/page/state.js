// Keeps the state in the address: #view=positions&scheme=alibi. Values are texts; an absent one is the default.
'use strict';

(() => {
  const explorer = globalThis.explorer;
  const listeners = new Set();
  // Read anew each time: a link changes the address before its hashchange event, and a value set in between must not undo the link.
  const values = () => new URLSearchParams(location.hash.slice(1));

  explorer.state = {
    get: (name, fallback = '') => values().get(name) ?? fallback,
    has: (name) => values().has(name),
    names: () => [...values().keys()],
    // null removes a value. The listeners are not called: the caller knows of the change.
    set(changes) {
      const now = values();
      for (const [name, value] of Object.entries(changes)) {
        if (value === null || value === undefined) now.delete(name);
        else now.set(name, String(value));
      }
      history.replaceState(null, '', '#' + now.toString());
    },
    on_change(listener) { listeners.add(listener); },
  };
  addEventListener('hashchange', () => {
    for (const listener of listeners) listener();
  });
})();
