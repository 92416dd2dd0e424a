/** The fields that all Kubernetes objects have in common. */

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

/** Metadata of an object as an API server returns it; times are RFC 3339 strings. */
export interface ObjectMeta {
  name: string
  /** The namespace; absent on cluster-scoped objects. */
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

/** Metadata of an object of a namespaced type. */
export interface NamespacedMeta extends ObjectMeta {
  namespace: string
}

/** An object as an API server returns it. */
export interface KubernetesObject {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
}

/** An object as a client writes it: the server sets the rest of the metadata. */
export type ObjectInput<T extends KubernetesObject = KubernetesObject> = Omit<T, 'metadata' | 'apiVersion' | 'kind'> & {
  apiVersion?: T['apiVersion']
  kind?: T['kind']
  metadata: Partial<ObjectMeta>
}

/** A list as an API server returns it. */
export interface ObjectList<T extends KubernetesObject = KubernetesObject> {
  apiVersion: string
  kind: string
  metadata: { resourceVersion?: string; continue?: string; remainingItemCount?: number }
  items: T[]
}

/** Identifies an object within its type. */
export interface ObjectKey {
  readonly namespace?: string | undefined
  readonly name: string
}

/** The key of an object of a namespaced type. */
export interface NamespacedKey {
  readonly namespace: string
  readonly name: string
}

/** The key of an object of this type. For a namespaced type, the namespace is a string and never undefined. */
export type KeyOf<T extends KubernetesObject> = T['metadata'] extends NamespacedMeta ? NamespacedKey : ObjectKey

/** Returns the key of an object, which is also the start of a dependent's metadata: `metadata: { ...keyOf(object), labels }`. */
export function keyOf(object: { readonly metadata: NamespacedKey }): NamespacedKey
export function keyOf(object: { readonly metadata: { readonly name: string; readonly namespace?: string } }): {
  readonly namespace?: string
  readonly name: string
}
export function keyOf(object: { readonly metadata: { readonly name: string; readonly namespace?: string } }): ObjectKey {
  const { namespace, name } = object.metadata
  return namespace === undefined ? { name } : { namespace, name }
}

/** Returns `namespace/name`, or only `name` for a cluster-scoped object. Logs and queues use this format. */
export function formatKey(key: ObjectKey): string {
  return key.namespace ? `${key.namespace}/${key.name}` : key.name
}

export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf('/')
  return slash < 0 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) }
}
