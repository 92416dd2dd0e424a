/** The built-in types PersistentVolume, PersistentVolumeClaim and StorageClass. */
import type { FieldError } from '../../../api/field-error.ts'
import { invalid, notSupported, required } from '../../../api/field-error.ts'
import { formatTime } from '../../../api/conditions.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { dns1123Subdomain } from '../../../api/name-syntax.ts'
import type { KubernetesObject } from '../../../api/object.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, nameColumn, textColumn } from '../columns.ts'
import { at, listAt, sizeAt, textAt } from '../../apimachinery/unstructured.ts'
import { changeObjectField, withDefaults } from '../defaulting.ts'
import { parseQuantity } from '../../apimachinery/quantity.ts'
import { defaultClassAnnotation, defaultClassOf } from '../default-storage-class.ts'
import { claimProtection, volumeProtection, withProtection } from '../storage-protection.ts'
import type { Column } from '../../rest/column.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import type { ClusterView } from '../../rest/strategy.ts'
import { immutable, validateOptionalEnum } from './field-checks.ts'
import { classAnnotation, validateClaimUpdate, validateVolumeUpdate } from './volume-updates.ts'

const modeNames: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
}
const supportedModes = Object.keys(modeNames).sort()

function modes(value: JsonValue | undefined): string {
  const given = Array.isArray(value) ? value : []
  return Object.keys(modeNames)
    .filter((mode) => given.includes(mode))
    .map((mode) => modeNames[mode])
    .join(',')
}

function phase(object: JsonObject): string {
  return at(object, 'metadata', 'deletionTimestamp') === undefined ? textAt(object, 'status', 'phase') : 'Terminating'
}

function orUnset(...path: readonly string[]): (object: JsonObject) => string {
  return (object) => textAt(object, ...path) || '<unset>'
}

function storageClass(object: JsonObject): string {
  return textAt(object, 'metadata', 'annotations', classAnnotation) || textAt(object, 'spec', 'storageClassName')
}

const attributesColumn = textColumn('VolumeAttributesClass', orUnset('spec', 'volumeAttributesClassName'))
const modeColumn: Column = textColumn('VolumeMode', orUnset('spec', 'volumeMode'), 1)

function validateModes(spec: JsonValue | undefined, path: string): FieldError[] {
  return listAt(spec, 'accessModes')
    .filter((mode) => !supportedModes.includes(String(mode)))
    .map((mode) => notSupported(`${path}.accessModes`, mode, supportedModes))
}

function validateMode(spec: JsonValue | undefined, path: string): FieldError[] {
  return isObject(spec) ? validateOptionalEnum(spec, 'volumeMode', path, ['Block', 'Filesystem']) : []
}

function validateClassName(spec: JsonValue | undefined, path: string): FieldError[] {
  const name = textAt(spec, 'storageClassName')
  return name === '' ? [] : dns1123Subdomain(name).map((detail) => invalid(`${path}.storageClassName`, name, detail))
}

function validateAmount(amount: JsonValue | undefined, path: string): FieldError[] {
  if (amount === undefined || amount === null) return [required(path)]
  return (parseQuantity(amount) ?? 0) > 0 ? [] : [invalid(path, String(amount), 'must be greater than zero')]
}

const claims = builtinResource({
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  shortNames: ['pvc'],
  status: true,
  columns: [
    nameColumn,
    textColumn('Status', phase),
    textColumn('Volume', (claim) => textAt(claim, 'spec', 'volumeName')),
    textColumn('Capacity', (claim) => (isBound(claim) ? textAt(claim, 'status', 'capacity', 'storage') : '')),
    textColumn('Access Modes', (claim) => (isBound(claim) ? modes(at(claim, 'status', 'accessModes')) : '')),
    textColumn('StorageClass', storageClass),
    attributesColumn,
    ageColumn,
    modeColumn,
  ],
  strategy: {
    returnsDeleted: true,
    default: defaultClaim,
    prepareForCreate: (claim) => ({ ...claim, status: { phase: 'Pending' } }),
    admit: (claim, cluster) => withProtection(withDefaultClass(claim, cluster), claimProtection),
    validate: (claim, old, subresource) =>
      subresource === 'status'
        ? []
        : [...validateClaimSpec(claim.spec, 'spec'), ...(old === undefined ? [] : validateClaimUpdate(claim, old))],
  },
})

/**
 * Sets `storageClassName` to the default class if a claim names no class
 * (k8s.io/kubernetes/plugin/pkg/admission/storage/storageclass/setdefault).
 */
function withDefaultClass(claim: JsonObject, { list }: ClusterView): JsonObject {
  const isGiven = at(claim, 'spec', 'storageClassName') !== undefined || at(claim, 'metadata', 'annotations', classAnnotation) !== undefined
  const found = isGiven ? undefined : defaultClassOf(list('storage.k8s.io/storageclasses') as unknown as readonly KubernetesObject[])
  return found === undefined ? claim : changeObjectField(claim, 'spec', (spec) => ({ ...spec, storageClassName: found.metadata.name }))
}

function isBound(claim: JsonObject): boolean {
  return textAt(claim, 'spec', 'volumeName') !== ''
}

/** Applies defaults to the spec of a PersistentVolumeClaim, or of a claim in `volumeClaimTemplates` of a StatefulSet. */
export function defaultClaim(claim: JsonObject): JsonObject {
  return changeObjectField(claim, 'spec', (spec) => withDefaults(spec, { volumeMode: 'Filesystem' }))
}

export function validateClaimSpec(spec: JsonValue | undefined, path: string): FieldError[] {
  return [
    ...(listAt(spec, 'accessModes').length === 0 ? [required(`${path}.accessModes`, 'at least 1 access mode is required')] : []),
    ...validateModes(spec, path),
    ...validateAmount(at(spec, 'resources', 'requests', 'storage'), `${path}.resources[storage]`),
    ...validateClassName(spec, path),
    ...validateMode(spec, path),
  ]
}

const volumes = builtinResource({
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  shortNames: ['pv'],
  namespaced: false,
  status: true,
  columns: [
    nameColumn,
    textColumn('Capacity', (volume) => textAt(volume, 'spec', 'capacity', 'storage')),
    textColumn('Access Modes', (volume) => modes(at(volume, 'spec', 'accessModes'))),
    textColumn('Reclaim Policy', (volume) => textAt(volume, 'spec', 'persistentVolumeReclaimPolicy')),
    textColumn('Status', phase),
    textColumn('Claim', (volume) => {
      const claim = at(volume, 'spec', 'claimRef')
      return isObject(claim) ? `${textAt(claim, 'namespace')}/${textAt(claim, 'name')}` : ''
    }),
    textColumn('StorageClass', storageClass),
    attributesColumn,
    textColumn('Reason', (volume) => textAt(volume, 'status', 'reason')),
    ageColumn,
    modeColumn,
  ],
  strategy: {
    returnsDeleted: true,
    default: (volume) =>
      changeObjectField(volume, 'spec', (spec) =>
        changeObjectField(withDefaults(spec, { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' }), 'hostPath', (path) =>
          withDefaults(path, { type: '' }),
        ),
      ),
    prepareForCreate: (volume) => {
      const time = textAt(volume, 'metadata', 'creationTimestamp')
      return { ...volume, status: { phase: 'Pending', lastPhaseTransitionTime: time === '' ? formatTime(0) : time } }
    },
    admit: (volume) => withProtection(volume, volumeProtection),
    warnings: (volume) => (textAt(volume, 'spec', 'persistentVolumeReclaimPolicy') === 'Recycle' ? [recyclingWarning] : []),
    validate: (volume, old, subresource) =>
      subresource === 'status'
        ? []
        : [...validateVolume(volume), ...(old === undefined ? [] : validateVolumeUpdate(volume, old, otherFields))],
  },
})

const recyclingWarning =
  'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.'

function validateVolume(volume: JsonObject): FieldError[] {
  const capacity = at(volume, 'spec', 'capacity') ?? null
  const policies = ['Delete', 'Recycle', 'Retain']
  const policy = textAt(volume, 'spec', 'persistentVolumeReclaimPolicy')
  const sources = Object.keys(isObject(volume.spec) ? volume.spec : {}).filter((field) => !otherFields.has(field))
  return [
    ...(listAt(volume, 'spec', 'accessModes').length === 0 ? [required('spec.accessModes')] : []),
    ...validateModes(volume.spec, 'spec'),
    ...(sizeAt(volume, 'spec', 'capacity') === 0 ? [required('spec.capacity')] : []),
    ...(isObject(capacity) && Object.keys(capacity).join() === 'storage'
      ? validateAmount(capacity.storage, 'spec.capacity[storage]')
      : [notSupported('spec.capacity', capacity, ['storage'])]),
    ...(policy === '' || policies.includes(policy) ? [] : [notSupported('spec.persistentVolumeReclaimPolicy', policy, policies)]),
    ...(sources.length === 0 ? [required('spec', 'must specify a volume type')] : []),
    ...validateClassName(volume.spec, 'spec'),
    ...validateMode(volume.spec, 'spec'),
  ]
}

/** Fields in the spec of a PersistentVolume that are not volume sources. */
const otherFields = new Set([
  'capacity',
  'accessModes',
  'claimRef',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'mountOptions',
  'volumeMode',
  'nodeAffinity',
  'volumeAttributesClassName',
])

const classFields = ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode']

const storageClasses = builtinResource({
  group: 'storage.k8s.io',
  kind: 'StorageClass',
  plural: 'storageclasses',
  shortNames: ['sc'],
  namespaced: false,
  columns: [
    {
      ...nameColumn,
      cell: (object) =>
        textAt(object, 'metadata', 'name') +
        (textAt(object, 'metadata', 'annotations', defaultClassAnnotation) === 'true' ? ' (default)' : ''),
    },
    textColumn('Provisioner', (object) => textAt(object, 'provisioner')),
    textColumn('ReclaimPolicy', (object) => textAt(object, 'reclaimPolicy')),
    textColumn('VolumeBindingMode', (object) => textAt(object, 'volumeBindingMode')),
    { ...textColumn('AllowVolumeExpansion', () => ''), cell: (object) => object.allowVolumeExpansion === true },
    ageColumn,
  ],
  strategy: {
    returnsDeleted: true,
    default: (object) => withDefaults(object, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
    validate: (object, old) => [
      ...(textAt(object, 'provisioner') === '' ? [required('provisioner')] : []),
      ...(object.reclaimPolicy === '' ? [] : validateOptionalEnum(object, 'reclaimPolicy', '', ['Delete', 'Retain'])),
      ...validateOptionalEnum(object, 'volumeBindingMode', '', ['Immediate', 'WaitForFirstConsumer']),
      ...(old === undefined ? [] : classFields.flatMap((field) => immutable(object[field], old[field], field))),
    ],
  },
})

export const volumeResources: readonly ResourceInfo[] = [claims, volumes, storageClasses]
