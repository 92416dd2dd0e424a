/** The operator of the soak drill. It runs in a separate process, so that the measured heap contains no objects of the drill. */
import {
  controllerReference,
  core,
  createLogger,
  defineController,
  defineOperator,
  hasFields,
  isNotFound,
  keyOf,
  loadConnection,
  Metrics,
  run,
} from '../../src/index.ts'
import { gadget } from '../gadget.ts'
import type { Answer, Question } from './messages.ts'

const metrics = new Metrics()
let reconciles = 0

const controller = defineController(gadget, {
  workers: 4,
  owns: [core.configMap],
  async reconcile(object, { cache, client }) {
    reconciles += 1
    const { value } = object.spec
    const wanted = { metadata: { ...keyOf(object), ownerReferences: [controllerReference(object)] }, data: { value: String(value) } }
    if (!hasFields(cache.get(core.configMap, keyOf(object)), wanted)) await client.apply(core.configMap, wanted)
    if (object.status?.seen !== value) await client.patchStatus(gadget, keyOf(object), { status: { seen: value } })
  },
  // This control plane runs no Kubernetes garbage collector, which would delete the dependents of a deleted object. Therefore the operator
  // deletes the ConfigMap.
  async deleted(key, { client }) {
    reconciles += 1
    try {
      await client.delete(core.configMap, key)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  },
})

process.on('message', (question: Question) => {
  void answer(question).then((answer) => process.send!(answer))
})
// The IPC channel to the drill closes when the drill ends for any reason. The operator then ends, too.
const endWithTheDrill = (): void => process.exit(1)
process.on('disconnect', endWithTheDrill)

async function answer(question: Question): Promise<Answer> {
  if (question === 'heap') {
    globalThis.gc!()
    return { heapUsed: process.memoryUsage().heapUsed }
  }
  return { reconciles, depth: await sumOf('workqueue_depth'), longestSeconds: await sumOf('workqueue_longest_running_processor_seconds') }
}

async function sumOf(name: string): Promise<number> {
  const metric = await metrics.registry.getSingleMetric(name)!.get()
  return metric.values.reduce((sum, { value }) => sum + value, 0)
}

await run([defineOperator({ name: 'soak', kinds: [gadget], controllers: [controller] })], {
  connection: await loadConnection({ env: process.env }),
  probeBindAddress: '0',
  metricsBindAddress: '0',
  // By default, errors are not logged, because the faults of the drill cause many of them.
  logger: createLogger({ level: process.env['LOG_LEVEL'] ?? 'fatal' }),
  metrics,
})
process.off('disconnect', endWithTheDrill)
process.disconnect()
