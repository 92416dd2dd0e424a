/**
 * A ControllerRevision: a Pod template that a StatefulSet or DaemonSet has or had. Its data is a strategic merge patch that restores the
 * template, which `kubectl rollout undo` sends (k8s.io/kubernetes/pkg/controller/history).
 */
import type { apps } from '../../../../api/kubernetes/apps.ts'
import type { ResourceType } from '../../../../api/group-version-kind.ts'
import type { DeepReadonly, JsonObject, JsonValue } from '../../../../api/json.ts'
import { isObject, jsonEqual } from '../../../../api/json.ts'
import { strategicMergePatch } from '../../../patch/strategic-merge-patch.ts'
import { kindType } from '../../../types/go-types.ts'
import type { PodTemplate } from '../pod-control.ts'

export type Revision = DeepReadonly<apps.ControllerRevision>

/** The label of a Pod with the revision of its template: the name of the ControllerRevision, or for a DaemonSet only its hash. */
export const podRevisionLabel = 'controller-revision-hash'

/** Returns the revision of a Pod; an empty string when it has none. */
export function podRevision({ metadata }: { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } }): string {
  return metadata.labels?.[podRevisionLabel] ?? ''
}

/** Returns the data of the revision with a Pod template (k8s.io/kubernetes/pkg/controller/statefulset: getPatch). */
export function revisionData(template: DeepReadonly<PodTemplate> | undefined): JsonObject {
  return { spec: { template: { ...(template as JsonObject | undefined), $patch: 'replace' } } }
}

/** Returns true when both revisions, or the revision and the data, restore the same template. */
export function hasData({ data }: Revision, other: unknown): boolean {
  return jsonEqual(data, other)
}

/** Compares revisions by their numbers; of equal ones, the older one comes first. */
export function compareRevisions(a: Revision, b: Revision): number {
  const created = ({ metadata }: Revision): number => Date.parse(metadata.creationTimestamp)
  return a.revision - b.revision || created(a) - created(b) || (a.metadata.name < b.metadata.name ? -1 : 1)
}

/** Returns the number that is one higher than those of all revisions. */
export function nextNumber(revisions: readonly Revision[]): number {
  return Math.max(0, ...revisions.map(({ revision }) => revision)) + 1
}

/**
 * Returns the Pod template of a revision. Anyone can create revisions with any data, so undefined when there is no template after the patch.
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
