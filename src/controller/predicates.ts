/** Predicates: filters for events. */
import type { DeepReadonly } from '../api/json.ts'
import type { LabelSelector } from '../api/label-selector.ts'
import type { KubernetesObject } from '../api/object.ts'
import { jsonEqual } from '../api/json.ts'
import { checkedRequirements, matchesLabels } from '../api/label-selector.ts'

/** A change of an object. */
export type ObjectEvent<T extends KubernetesObject = KubernetesObject> =
  | {
      readonly type: 'added'
      readonly object: DeepReadonly<T>
      /** True when the object existed before the watch began. */ readonly initial: boolean
    }
  | { readonly type: 'updated'; readonly object: DeepReadonly<T>; readonly old: DeepReadonly<T> }
  | { readonly type: 'deleted'; readonly object: DeepReadonly<T> }

/**
 * Returns false for an event that must not enqueue anything. The type is that of a method, because a predicate for Pods must be assignable
 * where the type of the objects is unknown.
 */
export type Predicate<T extends KubernetesObject = KubernetesObject> = { test(event: ObjectEvent<T>): boolean }['test']

/** Accepts an update when `changed` returns true; accepts all other events. */
function onUpdate(changed: (object: DeepReadonly<KubernetesObject>, old: DeepReadonly<KubernetesObject>) => boolean): Predicate {
  return (event) => event.type !== 'updated' || changed(event.object, event.old)
}

/** Accepts updates that change the spec, rather than only status or metadata. Accepts all updates of objects without a generation. */
export const generationChanged: Predicate = onUpdate(
  ({ metadata }, old) => metadata.generation === undefined || metadata.generation !== old.metadata.generation,
)

/** Accepts updates that change labels. */
export const labelsChanged: Predicate = onUpdate((object, old) => !jsonEqual(object.metadata.labels ?? {}, old.metadata.labels ?? {}))

/** Accepts updates that change annotations. */
export const annotationsChanged: Predicate = onUpdate(
  (object, old) => !jsonEqual(object.metadata.annotations ?? {}, old.metadata.annotations ?? {}),
)

/**
 * Accepts events of objects that match a selector, e.g. `{ matchLabels: { app: 'web' } }`. An update is also accepted when only the old
 * object matches, because the controller must be notified of objects that no longer match.
 *
 * @throws {ProreusError} `PRO_INPUT` when the selector is invalid.
 */
export function labelSelector(selector: LabelSelector): Predicate {
  const requirements = checkedRequirements(selector)
  const selected = (object: DeepReadonly<KubernetesObject>): boolean => matchesLabels(requirements, object.metadata.labels)
  return (event) => selected(event.object) || (event.type === 'updated' && selected(event.old))
}

/** Accepts events that all predicates accept. */
export function and<T extends KubernetesObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (event) => predicates.every((predicate) => predicate(event))
}

/** Accepts events that at least one predicate accepts. */
export function or<T extends KubernetesObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (event) => predicates.some((predicate) => predicate(event))
}

export function not<T extends KubernetesObject>(predicate: Predicate<T>): Predicate<T> {
  return (event) => !predicate(event)
}
