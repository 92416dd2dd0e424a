/**
 * Random writes to ConfigMaps. They create, change, label, delete and recreate objects. There are only a few names, so the writes concern
 * the same objects repeatedly.
 */
import { configMap } from '../../../src/api/builtin.ts'
import type { DeepReadonly } from '../../../src/api/json.ts'
import { ProreusError } from '../../../src/api/errors.ts'
import type { KubernetesObject, NamespacedKey } from '../../../src/api/object.ts'
import type { Client } from '../../../src/client/client.ts'
import type { Status } from '../../../src/api/status.ts'
import type { Dice } from '../dice.ts'
import type { ConfigMap } from './views.ts'
import { untransformable } from './views.ts'

const finalizer = 'history.example.com/wait'

/**
 * Makes one random write. Resolves to the response. Resolves to undefined for a dry run, for a write that the API server refuses, and when
 * the response is lost.
 *
 * @param known the latest state of the object that the writer has read.
 */
export async function writeOnce(
  client: Client,
  key: NamespacedKey,
  dice: Dice,
  known?: DeepReadonly<ConfigMap>,
): Promise<KubernetesObject | Status | undefined> {
  try {
    return await (dice.chance(0.04) ? dryRun(client, key, dice) : write(client, key, dice, known))
  } catch (error) {
    if (error instanceof ProreusError) return undefined
    throw error
  }
}

function write(
  client: Client,
  key: NamespacedKey,
  dice: Dice,
  known: DeepReadonly<ConfigMap> | undefined,
): Promise<KubernetesObject | Status> {
  const action = dice.pick([
    'create',
    'label',
    'label',
    'data',
    'data',
    'apply',
    'update',
    'finalizer',
    'delete',
    'delete',
    'replace',
  ] as const)
  switch (action) {
    case 'create':
      return client.create(configMap, { metadata: { ...key, ...labels(dice), ...finalizers(dice) }, data: data(dice) })
    case 'label':
      return client.patch(configMap, key, { metadata: labels(dice) })
    case 'data':
      return client.patch(configMap, key, { data: data(dice) })
    case 'apply':
      return client.apply(configMap, { metadata: { ...key, ...labels(dice) }, data: data(dice) })
    case 'update':
      return known === undefined
        ? client.create(configMap, { metadata: key, data: data(dice) })
        : client.update(configMap, { ...structuredClone(known as ConfigMap), data: data(dice) })
    case 'finalizer':
      return client.patch(configMap, key, { metadata: { finalizers: dice.chance(0.2) ? [finalizer] : null } })
    case 'delete':
      return client.delete(configMap, key, known !== undefined && dice.chance(0.3) ? { preconditions: { uid: known.metadata.uid } } : {})
    case 'replace':
      return client.delete(configMap, key).then(() => client.create(configMap, { metadata: { ...key, ...labels(dice) }, data: data(dice) }))
  }
}

/** A dry run must leave the cache unchanged. */
async function dryRun(client: Client, key: NamespacedKey, dice: Dice): Promise<undefined> {
  if (dice.chance(0.5)) await client.delete(configMap, key, { dryRun: true })
  else await client.patch(configMap, key, { data: { n: 'dry run' } }, { dryRun: true })
}

function labels(dice: Dice): { readonly labels: Record<string, string> } {
  return { labels: { app: dice.pick(['web', 'web', 'db']), tier: dice.pick(['1', '2', '3']) } }
}

function finalizers(dice: Dice): { readonly finalizers?: string[] } {
  return dice.chance(0.1) ? { finalizers: [finalizer] } : {}
}

function data(dice: Dice): Record<string, string> {
  const kind = dice.chance(0.2) ? untransformable : 'usual'
  return { n: String(dice.upTo(9)), kind, text: 'x'.repeat(dice.chance(0.2) ? dice.upTo(4000) : 10) }
}
