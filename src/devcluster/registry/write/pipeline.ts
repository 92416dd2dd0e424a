/**
 * The pipeline of all requests that create or change a stored object: POST, PUT, PATCH and server-side apply. Each request makes a `Write`,
 * which runs through these steps:
 *
 * 1. mutating admission
 * 2. the preparation by the type's strategy
 * 3. validation
 * 4. validating admission
 * 5. the storage
 *
 * The handlers of these requests call admission without this pipeline:
 *
 * - a DELETE (`verbs/delete.ts`)
 * - an eviction (`verbs/evict.ts`)
 * - a POST that stores nothing (`verbs/create.ts`)
 */
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { change } from './existing.ts'
import type { Environment } from '../environment.ts'
import { insert } from './new.ts'
import type { Write, Written } from './description.ts'

/**
 * Carries out a write.
 *
 * @throws {StatusError} 404 when the object to change does not exist, 409 when the object to create exists or a resourceVersion is stale,
 * 422 for an invalid object, and the errors of admission.
 */
export async function writeObject(environment: Environment, info: ResourceInfo, write: Write): Promise<Written> {
  const { creates, key } = write
  const created = creates === 'if missing' ? environment.store.latest(info.storageKey, key) === undefined : creates
  return { object: await (created ? insert : change)(environment, info, write), created }
}
