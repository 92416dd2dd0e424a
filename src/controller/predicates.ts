/** Predicates filter the events that enqueue keys. */
import type { GroupVersionKind } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { LabelSelector } from '../api/label-selector.ts'
import type { KubernetesObject } from '../api/object.ts'
import type { ObjectEvent } from '../cache/object-event.ts'
import { jsonEqual } from '../api/json.ts'
import { checkedRequirements, matchesLabels } from '../api/label-selector.ts'
import { refersTo } from '../api/owner-reference.ts'

/**
 * A function that returns true to accept an event, and false to reject the event. A rejected event does not enqueue any key.
 *
 * `Predicate` is the type of a method, because TypeScript compares the parameters of methods bivariantly. A predicate for Pods can
 * therefore be assigned to a `Predicate` for any object.
 */
export type Predicate<T extends KubernetesObject = KubernetesObject> = { test(event: ObjectEvent<T>): boolean }['test']

/** Returns a predicate that accepts an update when `changed` returns true, and accepts all other events. */
function onUpdate(changed: (object: DeepReadonly<KubernetesObject>, old: DeepReadonly<KubernetesObject>) => boolean): Predicate {
  return (event) => event.type !== 'updated' || changed(event.object, event.old)
}

/**
 * Rejects updates that leave `metadata.generation` unchanged. Such updates usually change only the status or metadata. All other events are
 * accepted. If an object has no generation, all updates of this object are accepted.
 */
export const generationChanged: Predicate = onUpdate(
  ({ metadata }, old) => metadata.generation === undefined || metadata.generation !== old.metadata.generation,
)

/** Rejects updates that leave `metadata.resourceVersion` unchanged. All other events are accepted. */
export const resourceVersionChanged: Predicate = onUpdate(({ metadata }, old) => metadata.resourceVersion !== old.metadata.resourceVersion)

/** Rejects updates that leave the labels unchanged. All other events are accepted. */
export const labelsChanged: Predicate = onUpdate((object, old) => !jsonEqual(object.metadata.labels ?? {}, old.metadata.labels ?? {}))

/** Rejects updates that leave the annotations unchanged. All other events are accepted. */
export const annotationsChanged: Predicate = onUpdate(
  (object, old) => !jsonEqual(object.metadata.annotations ?? {}, old.metadata.annotations ?? {}),
)

/**
 * Rejects updates that leave the finalizers unchanged. A different order of the finalizers does not count as a change. All other events are
 * accepted.
 */
export const finalizersChanged: Predicate = onUpdate((object, old) => !jsonEqual(finalizersOf(object), finalizersOf(old)))

function finalizersOf({ metadata }: DeepReadonly<KubernetesObject>): readonly string[] {
  return (metadata.finalizers ?? []).toSorted()
}

/** Accepts deletion events, and events of objects whose `metadata.deletionTimestamp` is set. `not(beingDeleted)` rejects these events. */
export const beingDeleted: Predicate = (event) => event.type === 'deleted' || event.object.metadata.deletionTimestamp !== undefined

/**
 * Accepts events of objects with an owner of the group and kind of `owner`. The owner need not be the controller. An update is also
 * accepted if only the old object has such an owner.
 *
 * @example
 * watches: [{ type: core.pod, predicates: [predicates.ownedBy(apps.replicaSet)], map }]
 */
export function ownedBy(owner: Pick<GroupVersionKind, 'group' | 'kind'>): Predicate {
  const owned = ({ metadata }: DeepReadonly<KubernetesObject>): boolean =>
    metadata.ownerReferences?.some((reference) => refersTo(reference, owner)) ?? false
  return (event) => owned(event.object) || (event.type === 'updated' && owned(event.old))
}

/** The functions of a predicate, one for each type of event. */
export interface PredicateFunctions<T extends KubernetesObject = KubernetesObject> {
  added?(event: Extract<ObjectEvent<T>, { type: 'added' }>): boolean
  updated?(event: Extract<ObjectEvent<T>, { type: 'updated' }>): boolean
  deleted?(event: Extract<ObjectEvent<T>, { type: 'deleted' }>): boolean
}

/**
 * Returns a predicate that calls the function for the type of the event. If this type has no function, the event is accepted.
 *
 * @example
 * predicates.funcs({ updated: ({ object, old }) => object.spec.replicas !== old.spec.replicas, deleted: () => false })
 */
export function funcs<T extends KubernetesObject = KubernetesObject>(functions: PredicateFunctions<T>): Predicate<T> {
  return (event) => {
    switch (event.type) {
      case 'added':
        return functions.added?.(event) ?? true
      case 'updated':
        return functions.updated?.(event) ?? true
      case 'deleted':
        return functions.deleted?.(event) ?? true
    }
  }
}

/**
 * Accepts events of objects whose labels match a selector, e.g. `{ matchLabels: { app: 'web' } }`. An update is also accepted when only the
 * old object matches, because the controller must be notified that the object no longer matches.
 *
 * @throws {ProreusError} `PRO_INPUT` when the selector is invalid.
 */
export function labelSelector(selector: LabelSelector): Predicate {
  const requirements = checkedRequirements(selector)
  const selected = (object: DeepReadonly<KubernetesObject>): boolean => matchesLabels(requirements, object.metadata.labels)
  return (event) => selected(event.object) || (event.type === 'updated' && selected(event.old))
}

/** Accepts the events that all of the predicates accept. */
export function and<T extends KubernetesObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (event) => predicates.every((predicate) => predicate(event))
}

/** Accepts the events that at least one of the predicates accepts. */
export function or<T extends KubernetesObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (event) => predicates.some((predicate) => predicate(event))
}

export function not<T extends KubernetesObject>(predicate: Predicate<T>): Predicate<T> {
  return (event) => !predicate(event)
}
