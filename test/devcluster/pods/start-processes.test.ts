/** Tests of the start of the runtime whose containers are processes. */
import t from 'tap'
import type { Client } from '../../../src/client/client.ts'
import { listProcesses } from '../../../src/devcluster/pods/plain/process-list.ts'
import { startProcesses } from '../../../src/devcluster/pods/start-processes.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import { silentLogger } from '../../../src/telemetry/logger.ts'

/** Returns the pids of the processes that this process has started. */
function children(): readonly number[] {
  return listProcesses().flatMap(({ pid, parent }) => (parent === process.pid ? [pid] : []))
}

t.test('a start that fails because a request fails leaves no processes', async (t) => {
  const before = children()
  let started = 0
  const client = {
    list() {
      started = children().length - before.length
      return Promise.reject(new Error('no answer'))
    },
  } as unknown as Client
  const logger = silentLogger()
  const options = { stateFolder: t.testdir(), keepFiles: true, client, acceptApiServer() {}, logger, clock: systemClock, random: () => 0.5 }
  await t.rejects(startProcesses(options), { message: 'no answer' })
  t.ok(started > 0, 'the driver had processes')
  t.strictSame(children(), before)
})
