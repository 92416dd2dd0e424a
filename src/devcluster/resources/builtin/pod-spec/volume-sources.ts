/** Rules for each kind of volume (k8s.io/kubernetes/pkg/apis/core/validation: validateVolumeSource). */
import type { FieldError } from '../../../../api/field-error.ts'
import { forbidden, invalid, required, tooLong } from '../../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../../api/json.ts'
import { isObject } from '../../../../api/json.ts'
import { longName } from '../../../../api/name-syntax.ts'
import { validateAnnotations, validateLabels } from '../../../../api/object-meta.ts'
import { parseQuantity } from '../../../apimachinery/quantity.ts'
import { listAt, sizeAt, textAt } from '../../../apimachinery/unstructured.ts'
import { validateEnum, validateOptionalEnum } from '../field-checks.ts'
import { validateClaimSpec } from '../volumes.ts'
import { fileMode, pathWithoutBacksteps, relativePath } from './file-paths.ts'
import { validateDownwardFiles, validateKeyFiles, validateProjections } from './projected-files.ts'

export interface VolumeSource {
  readonly field: string
  /** The name of the field in the paths of kube-apiserver's errors. Default: `field`. */
  readonly pathName?: string
  /**
   * If a volume has more than one source, kube-apiserver reports an error for each source but the first. This name is the name of the field
   * in such an error. Default: `field`.
   */
  readonly extraName?: string
  readonly validate: (source: JsonObject, path: string, isPod: boolean) => FieldError[]
}

/** Returns a rule that requires all `fields`. The value of each field is a text or a list. */
function having(...fields: readonly string[]): VolumeSource['validate'] {
  return (source, path) =>
    fields.flatMap((field) => (textAt(source, field) === '' && sizeAt(source, field) === 0 ? [required(`${path}.${field}`)] : []))
}

const hostPathTypes = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket']

/**
 * The kinds of volumes, in the order of kube-apiserver. For some storage systems that are rarely used, only required fields are validated,
 * or nothing is validated.
 */
export const volumeSources: readonly VolumeSource[] = [
  { field: 'emptyDir', validate: validateEmptyDir },
  {
    field: 'hostPath',
    validate: (source, path) =>
      textAt(source, 'path') === ''
        ? [required(`${path}.path`)]
        : [...pathWithoutBacksteps(textAt(source, 'path'), `${path}.path`), ...validateOptionalEnum(source, 'type', path, hostPathTypes)],
  },
  {
    field: 'gitRepo',
    validate: (source, path) => [
      ...having('repository')(source, path, true),
      ...relativePath(textAt(source, 'directory'), `${path}.directory`),
    ],
  },
  { field: 'gcePersistentDisk', pathName: 'persistentDisk', validate: partitioned('pdName') },
  { field: 'awsElasticBlockStore', validate: partitioned('volumeID') },
  {
    field: 'secret',
    validate: (source, path) => [
      ...having('secretName')(source, path, true),
      ...fileMode(source.defaultMode, `${path}.defaultMode`),
      ...validateKeyFiles(listAt(source, 'items'), `${path}.items`),
    ],
  },
  {
    field: 'nfs',
    validate: (source, path) => [
      ...having('server', 'path')(source, path, true),
      ...(textAt(source, 'path').startsWith('/') ? [] : [invalid(`${path}.path`, textAt(source, 'path'), 'must be an absolute path')]),
    ],
  },
  { field: 'iscsi', validate: having('targetPortal', 'iqn') },
  { field: 'glusterfs', validate: having('endpoints', 'path') },
  { field: 'flocker', validate: having() },
  { field: 'persistentVolumeClaim', validate: having('claimName') },
  { field: 'rbd', validate: having('monitors', 'image') },
  { field: 'cinder', validate: having('volumeID') },
  { field: 'cephfs', extraName: 'cephFS', validate: having('monitors') },
  { field: 'quobyte', validate: having() },
  {
    field: 'downwardAPI',
    extraName: 'downwarAPI',
    validate: (source, path) => [
      ...fileMode(source.defaultMode, `${path}.defaultMode`),
      ...validateDownwardFiles(listAt(source, 'items'), path),
    ],
  },
  { field: 'fc', validate: having() },
  { field: 'flexVolume', validate: having('driver') },
  {
    field: 'configMap',
    validate: (source, path) => [
      ...having('name')(source, path, true),
      ...fileMode(source.defaultMode, `${path}.defaultMode`),
      ...validateKeyFiles(listAt(source, 'items'), `${path}.items`),
    ],
  },
  { field: 'azureFile', validate: having('secretName', 'shareName') },
  { field: 'vsphereVolume', validate: having('volumePath') },
  { field: 'photonPersistentDisk', validate: having('pdID') },
  { field: 'portworxVolume', validate: having('volumeID') },
  { field: 'azureDisk', validate: having() },
  { field: 'storageos', validate: having() },
  {
    field: 'projected',
    validate: (source, path) => [...fileMode(source.defaultMode, `${path}.defaultMode`), ...validateProjections(source, path)],
  },
  { field: 'scaleIO', validate: having('gateway', 'system', 'volumeName') },
  { field: 'csi', validate: validateCsi },
  { field: 'ephemeral', validate: validateEphemeral },
  {
    field: 'image',
    validate: (source, path, isPod) => [
      ...(isPod ? having('reference')(source, path, isPod) : []),
      ...validateEnum(source, 'pullPolicy', path, ['Always', 'IfNotPresent', 'Never']),
    ],
  },
]

function validateEmptyDir(source: JsonObject, path: string): FieldError[] {
  return (parseQuantity(source.sizeLimit) ?? 0) < 0
    ? [forbidden(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')]
    : []
}

/**
 * Returns the validation rule for a volume source that refers to a disk. `field` is the name of the required field that identifies the
 * disk. The field `partition` is optional.
 */
function partitioned(field: string): VolumeSource['validate'] {
  return (source, path) => {
    const { partition } = source
    const errors = having(field)(source, path, true)
    return typeof partition === 'number' && (partition < 0 || partition > 255)
      ? [...errors, invalid(`${path}.partition`, partition, 'must be between 1 and 255, inclusive')]
      : errors
  }
}

const maxDriverLength = 63

function validateCsi(source: JsonObject, path: string): FieldError[] {
  const driver = textAt(source, 'driver')
  const errors = driver === '' ? [required(`${path}.driver`)] : []
  if (driver.length > maxDriverLength) errors.push(tooLong(`${path}.driver`, maxDriverLength))
  if (driver !== '') errors.push(...longName(driver.toLowerCase()).map((detail) => invalid(`${path}.driver`, driver, detail)))
  if (!isObject(source.nodePublishSecretRef)) return errors
  const secret = textAt(source, 'nodePublishSecretRef', 'name')
  // In kube-apiserver's error about an invalid name, the path does not contain `nodePublishSecretRef`.
  if (secret === '') return [...errors, required(`${path}.nodePublishSecretRef.name`)]
  return [...errors, ...longName(secret).map((detail) => invalid(`${path}.name`, secret, detail))]
}

/** The metadata fields that a claim template may have. */
const templateMetadata = new Set(['annotations', 'labels'])

/** Validates the source of an ephemeral volume (k8s.io/kubernetes/pkg/apis/core/validation: validateEphemeralVolumeSource). */
function validateEphemeral(source: JsonObject, path: string): FieldError[] {
  const { volumeClaimTemplate: template } = source
  const here = `${path}.volumeClaimTemplate`
  if (!isObject(template)) return [required(here)]
  const metadata = isObject(template.metadata) ? template.metadata : {}
  return [
    ...validateAnnotations(metadata.annotations, `${here}.metadata.annotations`),
    ...validateLabels(metadata.labels, `${here}.metadata.labels`),
    ...Object.entries(metadata)
      .filter(([field, value]) => !templateMetadata.has(field) && isSet(value))
      .map(([field]) => forbidden(`${here}.metadata.${field}`, 'cannot be set')),
    ...validateClaimSpec(template.spec, `${here}.spec`),
  ]
}

function isSet(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && value !== '' && value !== 0
}
