/**
 * An in-memory API server for tests of certificate stores. It supports optimistic locking and JSON patches with `test` operations. A test
 * can make requests fail.
 */
import type { ResourceType } from '../../../src/api/group-version-kind.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import { getOwn, isObject, jsonEqual } from '../../../src/api/json.ts'
import type { ObjectKey } from '../../../src/api/object.ts'
import { failure } from '../../../src/api/status.ts'
import { ApiError } from '../../../src/client/api-error.ts'
import type { Client } from '../../../src/client/client.ts'
import type { PatchOperation } from '../../../src/webhook/review/patch.ts'
import { applyPatch } from '../webhook/apply-patch.ts'

type TestOperation = { op: 'test'; path: string; value: unknown }

export class FakeClient {
  readonly objects = new Map<string, JsonObject>()
  /** The successful writes, each as `VERB KIND/NAME`. */
  readonly writes: string[] = []
  /** Called before each request. If the function throws an error, the request fails with this error. */
  before: (verb: string, name: string) => void | Promise<void> = () => undefined
  #revision = 0

  /** The fake as a `Client` that has only get, create, update and patch. */
  get client(): Pick<Client, 'get' | 'create' | 'update' | 'patch'> {
    return {
      get: (type: ResourceType, key: ObjectKey) => this.#get(type, key),
      create: (type: ResourceType, object: unknown) => this.#create(type, object as JsonObject),
      update: (type: ResourceType, object: unknown) => this.#update(type, object as JsonObject),
      patch: (type: ResourceType, key: ObjectKey, patch: object) => this.#patch(type, key, patch as (PatchOperation | TestOperation)[]),
    } as unknown as Pick<Client, 'get' | 'create' | 'update' | 'patch'>
  }

  /** Stores an object as if another client had written it. `writes` does not record this write. */
  put(kind: string, name: string, object: JsonObject): JsonObject {
    const metadata = { ...(object.metadata as JsonObject), name, resourceVersion: String(++this.#revision) }
    const stored = { ...object, kind, metadata }
    this.objects.set(`${kind}/${name}`, stored)
    return stored
  }

  async #get(type: ResourceType, { name }: ObjectKey): Promise<JsonObject> {
    await this.before('get', name)
    const found = this.objects.get(`${type.kind}/${name}`)
    if (found === undefined) throw error(404, 'NotFound', `${type.plural} "${name}" not found`)
    return found
  }

  async #create(type: ResourceType, object: JsonObject): Promise<JsonObject> {
    const name = String((object.metadata as JsonObject).name)
    await this.before('create', name)
    if (this.objects.has(`${type.kind}/${name}`)) throw error(409, 'AlreadyExists', `${type.plural} "${name}" already exists`)
    this.writes.push(`create ${type.kind}/${name}`)
    return this.put(type.kind, name, object)
  }

  async #update(type: ResourceType, object: JsonObject): Promise<JsonObject> {
    const { name, resourceVersion } = object.metadata as { name: string; resourceVersion: string }
    await this.before('update', name)
    const found = this.objects.get(`${type.kind}/${name}`)
    if ((found?.metadata as JsonObject | undefined)?.resourceVersion !== resourceVersion)
      throw error(409, 'Conflict', 'the object has been modified')
    this.writes.push(`update ${type.kind}/${name}`)
    return this.put(type.kind, name, object)
  }

  async #patch(type: ResourceType, { name }: ObjectKey, patch: readonly (PatchOperation | TestOperation)[]): Promise<JsonObject> {
    await this.before('patch', name)
    const found = this.objects.get(`${type.kind}/${name}`)
    if (found === undefined) throw error(404, 'NotFound', `${type.plural} "${name}" not found`)
    const changes: PatchOperation[] = []
    for (const operation of patch) {
      if (operation.op !== 'test') changes.push(operation)
      else if (!jsonEqual(at(found, operation.path), operation.value)) throw error(422, 'Invalid', 'testing value failed')
    }
    this.writes.push(`patch ${type.kind}/${name}`)
    return this.put(type.kind, name, applyPatch(found, changes) as JsonObject)
  }
}

export function error(code: number, reason: string, message: string): ApiError {
  return new ApiError(failure(code, reason, message))
}

function at(object: JsonObject, path: string): unknown {
  let value: unknown = object
  for (const key of path.split('/').slice(1))
    value = Array.isArray(value) ? value[Number(key)] : isObject(value) ? getOwn(value, key) : undefined
  return value
}
