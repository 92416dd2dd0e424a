/** The fields of a Pod that its containers can read from variables and files (the downward API). */
import { quote } from '../../../api/field-error.ts'
import { qualifiedName } from '../../../api/name-syntax.ts'
import type { ReadonlyPod } from '../../controllers/api-types.ts'
import type { PodPlace } from './sources.ts'
import { entryOf } from './sources.ts'

export interface FieldSelector {
  /** Default: `v1`. */
  readonly apiVersion?: string
  readonly fieldPath: string
}

/** The fields that the API accepts in `fieldRef` (k8s.io/kubernetes/pkg/apis/core/pods: ConvertDownwardAPIFieldLabel). */
const variableFields: ReadonlySet<string> = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
])

/**
 * Returns the value of a variable that refers to a field of the Pod (k8s.io/kubernetes/pkg/kubelet: podFieldSelectorRuntimeValue).
 *
 * @throws {Error} when a variable cannot refer to this field. The message is that of the kubelet.
 */
export function podFieldVariable(pod: ReadonlyPod, { apiVersion = 'v1', fieldPath }: FieldSelector, place: PodPlace): string {
  if (apiVersion !== 'v1') throw new Error(`unsupported pod version: ${apiVersion}`)
  // Old clients send `spec.host` instead of `spec.nodeName`.
  const path = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath
  const subscripted = splitSubscript(path)
  if (subscripted === undefined && !variableFields.has(path)) throw new Error(`field label not supported: ${path}`)
  if (subscripted !== undefined && subscripted.path !== 'metadata.annotations' && subscripted.path !== 'metadata.labels') {
    throw new Error(`field label does not support subscript: ${path}`)
  }
  switch (path) {
    case 'spec.nodeName':
      return pod.spec?.nodeName ?? ''
    case 'spec.serviceAccountName':
      return pod.spec?.serviceAccountName ?? ''
    case 'status.hostIP':
      return place.hostIPs[0] ?? ''
    case 'status.hostIPs':
      return place.hostIPs.join(',')
    case 'status.podIP':
      return place.podIPs[0] ?? ''
    case 'status.podIPs':
      return place.podIPs.join(',')
    default:
      return podFieldText(pod, path)
  }
}

/**
 * Returns the value of a metadata field of a Pod as text (k8s.io/kubernetes/pkg/fieldpath: ExtractFieldPathAsString). The supported fields
 * are those that a downward API volume supports in `fieldRef`.
 *
 * @throws {Error} when `fieldPath` is not supported. The message is that of the kubelet.
 */
export function podFieldText({ metadata }: ReadonlyPod, fieldPath: string): string {
  const subscripted = splitSubscript(fieldPath)
  if (subscripted !== undefined) {
    const { path, subscript } = subscripted
    if (path !== 'metadata.annotations' && path !== 'metadata.labels')
      throw new Error(`fieldPath ${quote(fieldPath)} does not support subscript`)
    const isLabel = path === 'metadata.labels'
    const problems = qualifiedName(isLabel ? subscript : subscript.toLowerCase())
    if (problems.length > 0) throw new Error(`invalid key subscript in ${fieldPath}: ${problems.join(';')}`)
    return entryOf(isLabel ? metadata.labels : metadata.annotations, subscript) ?? ''
  }
  switch (fieldPath) {
    case 'metadata.annotations':
      return formatMap(metadata.annotations)
    case 'metadata.labels':
      return formatMap(metadata.labels)
    case 'metadata.name':
      return metadata.name
    case 'metadata.namespace':
      return metadata.namespace
    case 'metadata.uid':
      return metadata.uid ?? ''
    default:
      throw new Error(`unsupported fieldPath: ${fieldPath}`)
  }
}

/**
 * Splits a path with a subscript, such as `metadata.labels['app']`, into the path and the subscript (k8s.io/kubernetes/pkg/fieldpath:
 * SplitMaybeSubscriptedPath). Returns undefined for a path without a subscript.
 */
function splitSubscript(fieldPath: string): { readonly path: string; readonly subscript: string } | undefined {
  const start = fieldPath.indexOf("['")
  if (start < 1 || !fieldPath.endsWith("']") || fieldPath.length < start + 4) return undefined
  return { path: fieldPath.slice(0, start), subscript: fieldPath.slice(start + 2, -2) }
}

/** Returns one line `key="value"` for each entry, sorted by key (k8s.io/kubernetes/pkg/fieldpath: FormatMap). */
function formatMap(map: Readonly<Record<string, string>> = {}): string {
  return Object.keys(map)
    .sort()
    .map((key) => `${key}=${quote(map[key]!)}`)
    .join('\n')
}
