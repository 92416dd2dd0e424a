/** A replica of the failover drill's operator. Its argument is its name. */
import { createLogger, defineController, defineOperator, keyOf, loadConnection, run } from '../../src/index.ts'
import { gadget } from '../gadget.ts'
import { lease } from './lease.ts'
import { reportSentWrites } from './sent-writes.ts'

const [instance] = process.argv.slice(2)

// When the drill ends for any reason, its replicas end, too.
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
  // Each fault is logged as an error, and the drill causes many.
  logger: createLogger({ level: process.env['LOG_LEVEL'] ?? 'fatal' }),
})
process.off('disconnect', endWithTheDrill)
process.disconnect()
