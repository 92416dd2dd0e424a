/** Computes the desired Pod of a MyPod, and the changes that the live Pod needs. */
import { canonicalJson, controllerReference, jsonEqual, jsonHash, keyOf, parseJson } from 'proreus'
import type { core, DeepReadonly, MergePatch, ObjectInput } from 'proreus'
import type { MyPod } from './kind.ts'

export const creatorLabel = 'creator'
const creatorValue = 'mypod-controller'

/** The annotation with the hash of the immutable fields of the desired Pod spec. */
export const specHashAnnotation = 'mypod.harryyann.github.io/spec-hash'
/**
 * The annotation that records the labels, annotations, tolerations, images and `activeDeadlineSeconds` that the operator has set. The
 * operator removes only recorded labels and annotations. All other labels and annotations belong to other clients.
 */
const appliedAnnotation = 'mypod.harryyann.github.io/applied'

type Tolerations = NonNullable<core.PodSpec['tolerations']>

interface Applied {
  /** The keys of the labels that the operator has set. */
  readonly labels: readonly string[]
  readonly annotations: readonly string[]
  readonly tolerations: DeepReadonly<Tolerations>
  /** The images that the operator has set, keyed by the name of the container. */
  readonly images: Readonly<Record<string, string>>
  readonly activeDeadlineSeconds?: number
}

/** Returns the desired Pod of `owner`, with the name and namespace of `owner`. */
export function podFor(owner: DeepReadonly<MyPod>): ObjectInput<core.Pod> {
  const { podAnnotations = {}, podSpec } = owner.spec
  const labels = labelsFor(owner)
  const applied: Applied = {
    labels: Object.keys(labels).sort(),
    annotations: Object.keys(podAnnotations).sort(),
    tolerations: podSpec.tolerations ?? [],
    images: Object.fromEntries(containersOf(podSpec).map(({ name, image }) => [name, image ?? ''])),
    ...(podSpec.activeDeadlineSeconds !== undefined && { activeDeadlineSeconds: podSpec.activeDeadlineSeconds }),
  }
  return {
    metadata: {
      ...keyOf(owner),
      labels,
      annotations: {
        ...podAnnotations,
        [specHashAnnotation]: jsonHash(immutablePart(podSpec)),
        [appliedAnnotation]: canonicalJson(applied),
      },
      ownerReferences: [controllerReference(owner)],
    },
    spec: podSpec as core.PodSpec,
  }
}

/** Returns the Pod for a dry-run request. It has a generated name, no owner, and no annotations of the operator. */
export function podToCheck(owner: DeepReadonly<MyPod>, generateName: string): ObjectInput<core.Pod> {
  const { podAnnotations = {}, podSpec } = owner.spec
  const { namespace } = keyOf(owner)
  return {
    metadata: { generateName, namespace, labels: labelsFor(owner), annotations: podAnnotations },
    spec: podSpec as core.PodSpec,
  }
}

function labelsFor({ spec: { podLabels = {} } }: DeepReadonly<MyPod>): Record<string, string> {
  return { ...podLabels, [creatorLabel]: creatorValue }
}

/** The action that changes the live Pod to the desired Pod. */
export type Change =
  | { readonly action: 'none' }
  | { readonly action: 'recreate'; readonly why: string }
  | { readonly action: 'patch'; readonly patch: MergePatch<ObjectInput<core.Pod>> }

/**
 * Returns the change that the live Pod needs.
 *
 * - The desired spec is compared with the spec that the operator has last applied. A comparison with the live spec would revert the fields
 *   that the API server and webhooks set.
 * - Desired labels and annotations that another client has changed are restored. If the Pod lacks the operator's own annotations, they are
 *   restored, and the Pod is not recreated.
 */
export function changeOf(live: DeepReadonly<core.Pod>, desired: ObjectInput<core.Pod>): Change {
  const annotations = desired.metadata.annotations ?? {}
  const hash = live.metadata.annotations?.[specHashAnnotation]
  if (hash !== undefined && hash !== annotations[specHashAnnotation]) {
    return { action: 'recreate', why: 'the Pod spec changed in fields that a running Pod cannot change' }
  }
  const before = appliedTo(live)
  const spec = before === undefined ? {} : specPatch(live, desired, before)
  if (spec === undefined)
    return { action: 'recreate', why: 'activeDeadlineSeconds or tolerations changed in a way that a running Pod does not allow' }
  const metadata = {
    ...fieldPatch('labels', live.metadata.labels, desired.metadata.labels ?? {}, before?.labels ?? []),
    ...fieldPatch('annotations', live.metadata.annotations, annotations, before?.annotations ?? []),
  }
  if (Object.keys(spec).length === 0 && Object.keys(metadata).length === 0) return { action: 'none' }
  return {
    action: 'patch',
    patch: { metadata: { ...metadata, resourceVersion: live.metadata.resourceVersion }, ...(Object.keys(spec).length > 0 && { spec }) },
  }
}

/**
 * Returns a merge patch of the labels or annotations. The patch sets each desired entry that the Pod lacks or that has a different value in
 * the Pod. If an entry of the Pod is not desired, and `before` contains the key of the entry, the patch removes the entry. All other
 * entries remain unchanged. `before` contains the keys that the operator has set earlier.
 */
function fieldPatch(
  field: 'labels' | 'annotations',
  live: DeepReadonly<Record<string, string>> = {},
  desired: Readonly<Record<string, string>>,
  before: readonly string[],
): object {
  const changed = Object.entries(desired).filter(([key, value]) => live[key] !== value)
  const gone = before.filter((key) => !Object.hasOwn(desired, key) && Object.hasOwn(live, key))
  if (changed.length + gone.length === 0) return {}
  return { [field]: Object.fromEntries([...changed, ...gone.map((key) => [key, null])]) }
}

/**
 * Returns a merge patch of the mutable fields of the Pod spec whose desired values have changed. If no such field has changed, the patch is
 * empty. Returns undefined if the API server would reject a change of `activeDeadlineSeconds` or of `tolerations`.
 */
function specPatch(live: DeepReadonly<core.Pod>, desired: ObjectInput<core.Pod>, before: Applied): object | undefined {
  const wanted = desired.spec!
  const patch: Record<string, unknown> = {}
  const images = new Map(containersOf(wanted).map(({ name, image }) => [name, image]))
  const isChanged = (name: string): boolean => images.has(name) && images.get(name) !== before.images[name]
  for (const field of ['containers', 'initContainers'] as const) {
    const containers = live.spec?.[field] ?? []
    if (containers.some(({ name, image }) => isChanged(name) && images.get(name) !== image)) {
      patch[field] = containers.map((container) =>
        isChanged(container.name) ? { ...container, image: images.get(container.name) } : container,
      )
    }
  }
  const deadline = wanted.activeDeadlineSeconds
  if (deadline !== before.activeDeadlineSeconds) {
    if (deadline === undefined || deadline > (before.activeDeadlineSeconds ?? Infinity)) return undefined
    patch.activeDeadlineSeconds = deadline
  }
  const tolerations = wanted.tolerations ?? []
  if (!before.tolerations.every((old) => tolerations.some((toleration) => jsonEqual(toleration, old)))) return undefined
  const added = tolerations.filter((toleration) => !(live.spec?.tolerations ?? []).some((old) => jsonEqual(toleration, old)))
  if (added.length > 0) patch.tolerations = [...(live.spec?.tolerations ?? []), ...added]
  return patch
}

/**
 * Parses the annotation `appliedAnnotation`. Returns undefined when the annotation is missing, or when its value does not have the form
 * that the operator writes. The caller then removes no label or annotation, and does not patch the Pod spec.
 */
function appliedTo(live: DeepReadonly<core.Pod>): Applied | undefined {
  try {
    const record: unknown = parseJson(live.metadata.annotations?.[appliedAnnotation] ?? '')
    if (!isObject(record)) return undefined
    const { labels = [], annotations = [], tolerations = [], images = {}, ...rest } = record as Partial<Applied>
    const isApplied = [labels, annotations].every(isListOfStrings) && Array.isArray(tolerations) && isObject(images)
    return isApplied ? { labels, annotations, tolerations, images, ...rest } : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isListOfStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function containersOf(podSpec: DeepReadonly<core.PodSpec>): DeepReadonly<core.PodSpec['containers']> {
  return [...(podSpec.initContainers ?? []), ...podSpec.containers]
}

/** Returns the Pod spec without its mutable fields. */
function immutablePart(podSpec: DeepReadonly<core.PodSpec>): unknown {
  const withoutImages = (containers: DeepReadonly<core.PodSpec['containers']> | undefined): unknown =>
    containers?.map((container) => ({ ...container, image: undefined }))
  return {
    ...podSpec,
    containers: withoutImages(podSpec.containers),
    initContainers: withoutImages(podSpec.initContainers),
    activeDeadlineSeconds: undefined,
    tolerations: undefined,
  }
}
