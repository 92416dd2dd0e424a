/** The static types of the fields that all Kubernetes objects have. */

export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

export interface ManagedFieldsEntry {
  manager?: string
  operation?: 'Apply' | 'Update'
  apiVersion?: string
  time?: string
  fieldsType?: 'FieldsV1'
  fieldsV1?: object
  subresource?: string
}

/** The metadata of an object that the API server has returned. Times are RFC 3339 strings. */
export interface ObjectMeta {
  name: string
  /** The namespace of the object; absent on cluster-scoped objects. */
  namespace?: string
  generateName?: string
  uid: string
  resourceVersion: string
  generation?: number
  creationTimestamp: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
  finalizers?: string[]
  managedFields?: ManagedFieldsEntry[]
}

/** The metadata of an object of a namespaced type. */
export interface NamespacedMeta extends ObjectMeta {
  namespace: string
}

/** An object that the API server has returned. */
export interface KubernetesObject {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
}

/**
 * An object that a client writes. All fields of its metadata are optional: the API server sets fields such as `uid`, and generates the name
 * if `generateName` is set.
 */
export type ObjectInput<T extends KubernetesObject = KubernetesObject> = Omit<T, 'metadata' | 'apiVersion' | 'kind'> & {
  apiVersion?: T['apiVersion']
  kind?: T['kind']
  metadata: Partial<ObjectMeta>
}

/** A list of objects that the API server has returned. */
export interface ObjectList<T extends KubernetesObject = KubernetesObject> {
  apiVersion: string
  kind: string
  metadata: { resourceVersion?: string; continue?: string; remainingItemCount?: number }
  items: T[]
}

/** The namespace and name of an object, which identify it among the objects of its type. */
export interface ObjectKey {
  readonly namespace?: string | undefined
  readonly name: string
}

/** The key of an object of a namespaced type. */
export interface NamespacedKey {
  readonly namespace: string
  readonly name: string
}

/** The key of an object of type `T`. For a namespaced type, `namespace` is always a string. */
export type KeyOf<T extends KubernetesObject> = T['metadata'] extends NamespacedMeta ? NamespacedKey : ObjectKey

/** Returns the key of an object. The key can also be used in the metadata of a dependent: `metadata: { ...keyOf(object), labels }`. */
export function keyOf(object: { readonly metadata: NamespacedKey }): NamespacedKey
export function keyOf(object: { readonly metadata: { readonly name: string; readonly namespace?: string } }): {
  readonly namespace?: string
  readonly name: string
}
export function keyOf(object: { readonly metadata: { readonly name: string; readonly namespace?: string } }): ObjectKey {
  const { namespace, name } = object.metadata
  return namespace === undefined ? { name } : { namespace, name }
}

/** Returns `namespace/name`, or only `name` for a cluster-scoped object. Log lines and work queues use this format. */
export function formatKey(key: ObjectKey): string {
  return key.namespace ? `${key.namespace}/${key.name}` : key.name
}

export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf('/')
  return slash < 0 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) }
}
