/** `outcomeOf`: the state of an object and of its children, without the values that differ from one run to the next. */
import { isControlledBy } from '../../../src/api/owner-reference.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import type { KubernetesObject, NamespacedKey } from '../../../src/api/object.ts'
import type { Client } from '../../../src/client/client.ts'
import type { ShippedKind } from './shipped.ts'

export interface Outcome {
  readonly status: unknown
  /** For each child, the fields that the operator can set, and the deletionTimestamp. */
  readonly children: readonly unknown[]
}

export async function outcomeOf(client: Client, kind: ShippedKind, key: NamespacedKey): Promise<Outcome> {
  const object = await client.get(kind.type, key)
  const lists = await Promise.all(kind.children.map((type) => client.list(type, { namespace: key.namespace })))
  const children = lists.flatMap(({ items }) => items.filter((item) => isControlledBy(item, object)))
  return { status: steady(object.status, key.name), children: children.map((child) => steady(fieldsOf(child), key.name)) }
}

function fieldsOf({ metadata, ...rest }: KubernetesObject): unknown {
  const { name, labels, annotations, ownerReferences, deletionTimestamp } = metadata
  const { status: _status, ...fields } = rest as unknown as JsonObject
  return { ...fields, metadata: { name, labels, annotations, ownerReferences, deletionTimestamp } }
}

/** Replaces names, uids, hashes, addresses and times with fixed words. */
function steady(value: unknown, name: string): unknown {
  const text = JSON.stringify(value)
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME')
    .replaceAll(/"createdTimestamp":\d+/g, '"createdTimestamp":"TIME"')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'UID')
    .replaceAll(/\b\d+\.\d+\.\d+\.\d+\b/g, 'ADDRESS')
    .replaceAll(/\b[0-9a-f]{32}\b/g, 'HASH')
    .replaceAll(/kube-api-access-\w{5}/g, 'kube-api-access')
    .replaceAll(new RegExp(`${name}-[a-z0-9]+-[a-z0-9]{5}\\b`, 'g'), 'POD')
    .replaceAll(name, 'NAME')
  return JSON.parse(text)
}
