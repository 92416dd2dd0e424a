/** A replica of the operator in the failover drill. The argument is the name of the replica. */
import { createLogger, defineController, defineOperator, keyOf, loadConnection, run } from '../../src/index.ts'
import { gadget } from '../gadget.ts'
import { lease } from './lease.ts'
import { reportSentWrites } from './sent-writes.ts'

const [instance] = process.argv.slice(2)

// The IPC channel to the drill closes when the drill ends for any reason. The replica then ends, too.
const endWithTheDrill = (): void => process.exit(1)
process.on('disconnect', endWithTheDrill)

let writes = 0
const clock = reportSentWrites((write) => process.send?.(write))

const controller = defineController(gadget, {
  workers: 4,
  async reconcile(object, { client }) {
    const { value } = object.spec
    if (object.status?.seen === value) return
    writes += 1
    const fieldManager = `${instance!}-${process.pid}-${writes}`
    await client.patchStatus(gadget, keyOf(object), { status: { seen: value } }, { fieldManager })
  },
})

await run([defineOperator({ name: 'failover', kinds: [gadget], controllers: [controller] })], {
  connection: await loadConnection({ env: process.env }),
  instance: instance!,
  leaderElection: lease,
  clock,
  probeBindAddress: '0',
  metricsBindAddress: '0',
  // By default, errors are not logged, because the faults of the drill cause many of them.
  logger: createLogger({ level: process.env['LOG_LEVEL'] ?? 'fatal' }),
})
process.off('disconnect', endWithTheDrill)
process.disconnect()
