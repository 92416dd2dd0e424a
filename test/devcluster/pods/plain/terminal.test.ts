/** Tests of `terminalProblem`. The function checks that script(1), which opens terminals, exists on this machine. */
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { terminalProblem } from '../../../../src/devcluster/pods/plain/terminal.ts'

const problem = /^tty: a terminal needs the program script of util-linux, which this machine does not have/

t.test('without the program script, there is no terminal', async (t) => {
  t.match(await terminalProblem({ PATH: t.testdir({}) }), problem)
})

for (const [version, expected] of [
  ['script from util-linux 2.41', undefined],
  ['BusyBox v1.37.0 multi-call binary.', problem],
] as const)
  t.test(`the program "${version}"`, { skip: process.platform === 'darwin' && 'macOS has another program' }, async (t) => {
    const folder = t.testdir({ script: `#!/bin/sh\necho '${version}'\n` })
    chmodSync(join(folder, 'script'), 0o755)
    const found = await terminalProblem({ PATH: folder })
    if (expected === undefined) t.equal(found, undefined)
    else t.match(found, expected)
  })
