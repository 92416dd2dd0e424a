/** Functions for owner references. The garbage collector uses owner references to find the dependents of a deleted object. */
import type { GroupVersionKind } from './group-version-kind.ts'
import { parseApiVersion } from './group-version-kind.ts'
import type { DeepReadonly } from './json.ts'
import type { KubernetesObject, OwnerReference } from './object.ts'

/**
 * Returns the owner reference that makes `owner` the controller of a dependent. If `owner` is namespaced, the dependent must be in the same
 * namespace. If `owner` is cluster-scoped, the dependent may be cluster-scoped or in any namespace.
 */
export function controllerReference(owner: DeepReadonly<KubernetesObject>): OwnerReference {
  return { ...ownerReference(owner), controller: true, blockOwnerDeletion: true }
}

/**
 * Returns an owner reference that does not make `owner` the controller of a dependent. With such references, a dependent can have several
 * owners. The garbage collector deletes the dependent when the last owner is gone. To get the events of such a dependent, the controller
 * for the type of `owner` sets `owns: [{ type, everyOwner: true }]`. The rules for namespaces are those of `controllerReference`.
 *
 * @example
 * await client.apply(core.secret, { metadata: { ...key, ownerReferences: sites.map(ownerReference) }, data })
 */
export function ownerReference(owner: DeepReadonly<KubernetesObject>): OwnerReference {
  const { apiVersion, kind, metadata } = owner
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid }
}

/** Returns the owner reference to the controller of an object; undefined when the object has no controller. */
export function controllerOf(object: DeepReadonly<KubernetesObject>): DeepReadonly<OwnerReference> | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true)
}

/**
 * Returns true when `owner` is the controller of `object`. The uids are compared. The result is therefore false when the controller is
 * another object with the same name as `owner`.
 */
export function isControlledBy(object: DeepReadonly<KubernetesObject>, owner: DeepReadonly<KubernetesObject>): boolean {
  return controllerOf(object)?.uid === owner.metadata.uid
}

/** Returns true when an owner reference points to an object of this group and kind, in any version. */
export function refersTo(reference: DeepReadonly<OwnerReference>, type: Pick<GroupVersionKind, 'group' | 'kind'>): boolean {
  return reference.kind === type.kind && parseApiVersion(reference.apiVersion).group === type.group
}
