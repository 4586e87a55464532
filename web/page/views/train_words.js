// What is said of a race, and its losses as numbers.
'use strict';

(() => {
  const explorer = globalThis.explorer;
  const kWhy = {
    copy: 'What stands first must be written first: without positions the encoder sees letters, but not where they stand.',
    reverse: 'What stands last must be written first: without positions the encoder sees letters, but not where they stand.',
    sort: 'To sort, it is enough to know which letters there are and how many: the order of what is read does not matter.',
    dates: 'Which number is the day and which the year is said by what stands beside it: without positions nothing stands beside anything.'};
  explorer.why_positions = (task) => kWhy[task];

  explorer.losses_csv = (runs) => 'scheme,step,loss,mean_loss,validation_loss\n' + runs.flatMap((run) => run.lines.map((line) => {
    const {step, loss, mean_loss, validation_loss = ''} = JSON.parse(line);
    return [run.scheme, step, loss, mean_loss, validation_loss].join(',');
  })).join('\n') + '\n';
})();
