/** Predicates: which events of an object are worth a reconcile. */
import type { DeepReadonly } from '../api/json.ts'
import type { LabelSelector } from '../api/label-selector.ts'
import type { KubernetesObject } from '../api/object.ts'
import { jsonEqual } from '../api/json.ts'
import { checkedRequirements, matchesLabels } from '../api/label-selector.ts'

/** Something happened to an object. */
export type ObjectEvent<T extends KubernetesObject = KubernetesObject> =
  | { readonly type: 'added'; readonly object: DeepReadonly<T>; /** It was there before the watch began. */ readonly initial: boolean }
  | { readonly type: 'updated'; readonly object: DeepReadonly<T>; readonly old: DeepReadonly<T> }
  | { readonly type: 'deleted'; readonly object: DeepReadonly<T> }

/** True: the event counts. A method's type, so that one for Pods fits where the type of the objects is not known. */
export type Predicate<T extends KubernetesObject = KubernetesObject> = { test(event: ObjectEvent<T>): boolean }['test']

/** An update counts when `changed` says so; other events always do. */
function onUpdate(changed: (object: DeepReadonly<KubernetesObject>, old: DeepReadonly<KubernetesObject>) => boolean): Predicate {
  return (event) => event.type !== 'updated' || changed(event.object, event.old)
}

/** Updates count when the spec was changed: not for status or metadata alone. Types that count no generation always pass. */
export const generationChanged: Predicate = onUpdate(
  ({ metadata }, old) => metadata.generation === undefined || metadata.generation !== old.metadata.generation,
)

/** Updates count when labels were changed. */
export const labelsChanged: Predicate = onUpdate((object, old) => !jsonEqual(object.metadata.labels ?? {}, old.metadata.labels ?? {}))

/** Updates count when annotations were changed. */
export const annotationsChanged: Predicate = onUpdate(
  (object, old) => !jsonEqual(object.metadata.annotations ?? {}, old.metadata.annotations ?? {}),
)

/**
 * Objects count that a selector selects, e.g. `{ matchLabels: { app: 'web' } }`.
 * An update counts also when the object was selected before it, so that leaving the selection is seen.
 *
 * @throws {ProreusError} `PRO_INPUT` when the selector is not valid.
 */
export function labelSelector(selector: LabelSelector): Predicate {
  const requirements = checkedRequirements(selector)
  const selected = (object: DeepReadonly<KubernetesObject>): boolean => matchesLabels(requirements, object.metadata.labels)
  return (event) => selected(event.object) || (event.type === 'updated' && selected(event.old))
}

/** All of them. */
export function and<T extends KubernetesObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (event) => predicates.every((predicate) => predicate(event))
}

/** At least one of them. */
export function or<T extends KubernetesObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (event) => predicates.some((predicate) => predicate(event))
}

export function not<T extends KubernetesObject>(predicate: Predicate<T>): Predicate<T> {
  return (event) => !predicate(event)
}
