/**
 * A ControllerRevision records a present or former Pod template of a StatefulSet or DaemonSet. The data of the revision is a strategic
 * merge patch that restores the template. `kubectl rollout undo` sends this patch (k8s.io/kubernetes/pkg/controller/history).
 */
import type { apps } from '../../../../api/kubernetes/apps.ts'
import type { ResourceType } from '../../../../api/group-version-kind.ts'
import type { DeepReadonly, JsonObject, JsonValue } from '../../../../api/json.ts'
import { isObject, jsonEqual } from '../../../../api/json.ts'
import { strategicMergePatch } from '../../../patch/strategic-merge-patch.ts'
import { kindType } from '../../../types/go-types.ts'
import type { PodTemplate } from '../pod-control.ts'

export type Revision = DeepReadonly<apps.ControllerRevision>

/**
 * The label that identifies the revision of a Pod. A StatefulSet sets the label to the name of the ControllerRevision. A DaemonSet sets the
 * label to the hash at the end of the ControllerRevision's name.
 */
export const podRevisionLabel = 'controller-revision-hash'

/** Returns the value of the label `controller-revision-hash` of a Pod or ControllerRevision; an empty string when the label is absent. */
export function podRevision({ metadata }: { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } }): string {
  return metadata.labels?.[podRevisionLabel] ?? ''
}

/** Returns the data of a revision that records this Pod template (k8s.io/kubernetes/pkg/controller/statefulset: getPatch). */
export function revisionData(template: DeepReadonly<PodTemplate> | undefined): JsonObject {
  return { spec: { template: { ...(template as JsonObject | undefined), $patch: 'replace' } } }
}

/** Returns true when the data of the revision equals `other`. */
export function hasData({ data }: Revision, other: unknown): boolean {
  return jsonEqual(data, other)
}

/** Compares revisions by number, lowest first. Of revisions with the same number, the older one comes first. */
export function compareRevisions(a: Revision, b: Revision): number {
  const created = ({ metadata }: Revision): number => Date.parse(metadata.creationTimestamp)
  return a.revision - b.revision || created(a) - created(b) || (a.metadata.name < b.metadata.name ? -1 : 1)
}

/** Returns the number of the next revision, which is 1 more than the highest number in `revisions`. If `revisions` is empty, returns 1. */
export function nextNumber(revisions: readonly Revision[]): number {
  return Math.max(0, ...revisions.map(({ revision }) => revision)) + 1
}

/**
 * Returns the Pod template that a revision restores. Returns undefined when the patch in the revision removes the template. Users can
 * create such revisions.
 *
 * @param current the template to which the patch is applied.
 */
export function restoredTemplate(
  type: ResourceType,
  current: DeepReadonly<PodTemplate> | undefined,
  { data }: Revision,
): DeepReadonly<PodTemplate> | undefined {
  const template = { ...current } as JsonObject
  const { spec } = strategicMergePatch({ spec: { template } }, (data ?? {}) as JsonValue, kindType(type)!)
  const restored = isObject(spec) ? spec.template : undefined
  return isObject(restored) ? (restored as DeepReadonly<PodTemplate>) : undefined
}
