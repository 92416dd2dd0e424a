/** Owner references, from which the garbage collector knows the dependents to delete. */
import type { GroupVersionKind } from './group-version-kind.ts'
import { parseApiVersion } from './group-version-kind.ts'
import type { DeepReadonly } from './json.ts'
import type { KubernetesObject, OwnerReference } from './object.ts'

/** Returns the reference that makes `owner` the controller of an object in the same namespace. */
export function controllerReference(owner: DeepReadonly<KubernetesObject>): OwnerReference {
  const { apiVersion, kind, metadata } = owner
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true }
}

/** Returns the reference to the controller of an object; undefined when the object has none. */
export function controllerOf(object: DeepReadonly<KubernetesObject>): DeepReadonly<OwnerReference> | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true)
}

/** Returns true when `owner` itself, and not another object of the same name, controls `object`. */
export function isControlledBy(object: DeepReadonly<KubernetesObject>, owner: DeepReadonly<KubernetesObject>): boolean {
  return controllerOf(object)?.uid === owner.metadata.uid
}

/** Returns true when a reference points to an object of this group and kind, in any version. */
export function refersTo(reference: DeepReadonly<OwnerReference>, type: Pick<GroupVersionKind, 'group' | 'kind'>): boolean {
  return reference.kind === type.kind && parseApiVersion(reference.apiVersion).group === type.group
}
