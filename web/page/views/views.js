// The views by name, in the order of their tabs; each has a title and show(place).
'use strict';

globalThis.explorer.views = {};
