/** Tests of network processes that cannot be started, because Proreus has too many open files. */
import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import t from 'tap'
import { defaultAddresses } from '../../../../src/devcluster/pods/network/addresses.ts'
import { AgentChild, AgentStartError } from '../../../../src/devcluster/pods/network/agent/agent-child.ts'
import { makeLocal } from '../../../../src/devcluster/pods/network/agent/local-addresses.ts'

const { status, stderr, error } = spawnSync('prlimit', [`--pid=${process.pid}`, '--nofile=128:'], { encoding: 'utf8' })
const skip = status !== 0 && `the number of open files cannot be limited: ${error?.message ?? stderr}`

/** Runs `work` while this process cannot open any further file. */
async function withoutFiles(work: () => Promise<unknown>): Promise<unknown> {
  const opened: number[] = []
  try {
    for (;;) opened.push(openSync('/dev/null', 'r'))
  } catch {
    return await work().catch((error: unknown) => error)
  } finally {
    for (const fd of opened) closeSync(fd)
  }
}

t.test('the agent', { skip }, async (t) => {
  const start = { type: 'start', addresses: defaultAddresses, seed: [] } as const
  const failed = await withoutFiles(async () => new AgentChild([], start, () => undefined).ready)
  t.type(failed, AgentStartError)
  t.match(failed, { message: /EMFILE/ })
})

t.test('the program ip', { skip }, async (t) => {
  const failed = await withoutFiles(() => makeLocal({ address: '10.96.0.0', prefix: 12 }))
  t.match(failed, { message: 'the program ip of the package iproute2 could not be started: spawn ip EMFILE' })
})
