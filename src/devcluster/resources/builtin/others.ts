/** Types that are stored and served, and of which nothing else is known here. */
import type { BuiltinDefinition } from '../builtin-resource.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, at, formatLabels, integerColumn, nameColumn, numberAt, textColumn } from '../columns.ts'
import type { JsonObject } from '../../../api/json.ts'
import type { ResourceInfo } from '../resource-info.ts'

function text(object: JsonObject, field: string): string {
  const value = at(object, 'spec', field)
  return value === undefined || value === null ? 'N/A' : String(value)
}

const definitions: readonly BuiltinDefinition[] = [
  { kind: 'LimitRange', plural: 'limitranges', shortNames: ['limits'] },
  { kind: 'ResourceQuota', plural: 'resourcequotas', shortNames: ['quota'], status: true },
  { kind: 'PersistentVolume', plural: 'persistentvolumes', shortNames: ['pv'], namespaced: false, status: true },
  {
    group: 'networking.k8s.io',
    kind: 'NetworkPolicy',
    plural: 'networkpolicies',
    shortNames: ['netpol'],
    columns: [
      nameColumn,
      textColumn('Pod-Selector', (object) => formatLabels(at(object, 'spec', 'podSelector', 'matchLabels'))),
      ageColumn,
    ],
    strategy: { generation: true },
  },
  { group: 'networking.k8s.io', kind: 'Ingress', plural: 'ingresses', shortNames: ['ing'], status: true, strategy: { generation: true } },
  {
    group: 'policy',
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
    shortNames: ['pdb'],
    status: true,
    columns: [
      nameColumn,
      textColumn('Min Available', (object) => text(object, 'minAvailable')),
      textColumn('Max Unavailable', (object) => text(object, 'maxUnavailable')),
      integerColumn('Allowed Disruptions', (object) => numberAt(object, 'status', 'disruptionsAllowed')),
      ageColumn,
    ],
    strategy: { generation: true },
  },
  { group: 'discovery.k8s.io', kind: 'EndpointSlice', plural: 'endpointslices', strategy: { generation: true } },
  {
    group: 'autoscaling',
    version: 'v2',
    kind: 'HorizontalPodAutoscaler',
    plural: 'horizontalpodautoscalers',
    shortNames: ['hpa'],
    categories: ['all'],
    status: true,
  },
  { group: 'storage.k8s.io', kind: 'StorageClass', plural: 'storageclasses', shortNames: ['sc'], namespaced: false },
  { group: 'scheduling.k8s.io', kind: 'PriorityClass', plural: 'priorityclasses', shortNames: ['pc'], namespaced: false },
]

export const otherResources: readonly ResourceInfo[] = definitions.map(builtinResource)
