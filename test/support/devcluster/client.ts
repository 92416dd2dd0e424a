/** Clients, a custom type and functions that poll, for tests with an embedded API server. */
import type { Test } from 'tap'
import type { KubernetesObject } from '../../../src/api/object.ts'
import type { ObjectOf, ResourceType } from '../../../src/api/group-version-kind.ts'
import { resourceType } from '../../../src/api/group-version-kind.ts'
import { customResourceDefinition } from '../../../src/api/builtin.ts'
import type { ObjectKey } from '../../../src/api/object.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import { isNotFound } from '../../../src/client/api-error.ts'
import type { Client } from '../../../src/client/client.ts'
import { createClient } from '../../../src/client/client.ts'
import type { Connection } from '../../../src/client/connection.ts'
import { widgetDefinition } from './definitions.ts'
import { until } from '../../../src/testing/until.ts'

export function clientFor(t: Test, connection: Connection): Client {
  const client = createClient(connection)
  t.teardown(() => client.close())
  return client
}

export type Widget = KubernetesObject & { spec: { size: number; color?: string }; status?: JsonObject }
export const widgetType = resourceType<Widget>({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })

/** Creates the CustomResourceDefinition of widgets. Resolves when widgets are served. */
export async function createWidgetDefinition(client: Client): Promise<void> {
  await client.raw('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    method: 'POST',
    body: widgetDefinition(),
    contentType: 'application/json',
  })
  await until('widgets are served', async () => {
    const { status } = await client.get(customResourceDefinition, { name: 'widgets.example.com' })
    return (
      status?.conditions?.some(({ type, status: value }) => type === 'Established' && value === 'True') === true &&
      (await client.list(widgetType))
    )
  })
}

/** Returns the object; undefined when it is not found. */
export async function find<R extends ResourceType>(client: Client, type: R, key: ObjectKey): Promise<ObjectOf<R> | undefined> {
  try {
    return await client.get(type, key)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

export async function untilGone(client: Client, type: ResourceType, key: ObjectKey): Promise<void> {
  await until(`${type.kind} ${key.name} is gone`, async () => (await find(client, type, key)) === undefined)
}
