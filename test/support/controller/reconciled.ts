/** Lets a controller reconcile one object, with the fake components of `fakes.ts`. */
import type { KubernetesObject } from '../../../src/api/object.ts'
import type { Client } from '../../../src/client/client.ts'
import type { ControllerDefinition } from '../../../src/controller/builder.ts'
import { runController } from '../../../src/controller/run-controller.ts'
import { until } from '../../../src/testing/until.ts'
import { controllerWorld } from './fakes.ts'

/**
 * Runs a controller until it has reconciled the object once.
 *
 * @param options.client the methods of the client that the controller calls
 * @param options.now the time of its clock
 */
export async function reconciled(
  definition: ControllerDefinition,
  object: KubernetesObject,
  { client, now }: { readonly client: Partial<Client>; readonly now?: number },
): Promise<void> {
  const { environment, clock, cache, stop } = controllerWorld(client)
  if (now !== undefined) clock.set(now)
  cache.of(definition.type).set(object)
  for (const type of definition.types) cache.of(type).sync()
  const running = runController(definition, environment, stop.signal)
  const { registry } = environment.metrics
  await until('the object is reconciled', async () => /^controller_runtime_reconcile_total\{.*\} 1$/m.test(await registry.metrics()))
  stop.abort()
  await running
}
