/** ConfigMaps, Secrets and ServiceAccounts. */
import type { FieldError } from '../../../api/field-error.ts'
import { forbidden, invalid, required } from '../../../api/field-error.ts'
import type { JsonObject } from '../../../api/json.ts'
import { isObject, jsonEqual } from '../../../api/json.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, at, integerColumn, nameColumn, sizeAt, textAt, textColumn } from '../columns.ts'
import { withDefaults } from '../defaults.ts'
import type { ResourceInfo } from '../resource-info.ts'
import { kindShape } from '../shape.ts'

const strings = { mapOf: 'string' } as const

const configMaps = builtinResource({
  kind: 'ConfigMap',
  plural: 'configmaps',
  shortNames: ['cm'],
  columns: [nameColumn, integerColumn('Data', (object) => sizeAt(object, 'data') + sizeAt(object, 'binaryData')), ageColumn],
  strategy: {
    shape: kindShape('ConfigMap', { data: strings, binaryData: strings, immutable: 'bool' }),
    validate: (object, old) => [
      ...validateKeys(object, 'data'),
      ...validateKeys(object, 'binaryData'),
      ...validateImmutable(object, old, ['data', 'binaryData']),
    ],
  },
})

const secrets = builtinResource({
  kind: 'Secret',
  plural: 'secrets',
  columns: [
    nameColumn,
    textColumn('Type', (object) => textAt(object, 'type')),
    integerColumn('Data', (object) => sizeAt(object, 'data')),
    ageColumn,
  ],
  selectableFields: (object) => ({ type: textAt(object, 'type') }),
  strategy: {
    shape: kindShape('Secret', { data: strings, stringData: strings, type: 'string', immutable: 'bool' }),
    default: (object) => withDefaults(encodeStringData(object), { type: 'Opaque' }),
    validate: (object, old) => [
      ...validateKeys(object, 'data'),
      ...validateBase64(object),
      ...validateType(object),
      ...(old === undefined || object.type === old.type ? [] : [invalid('type', object.type, 'field is immutable')]),
      ...validateImmutable(object, old, ['data']),
    ],
  },
})

const serviceAccounts = builtinResource({
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  shortNames: ['sa'],
  columns: [nameColumn, integerColumn('Secrets', (object) => sizeAt(object, 'secrets')), ageColumn],
  strategy: { returnsDeleted: true },
})

export const configResources: readonly ResourceInfo[] = [configMaps, secrets, serviceAccounts]

/** `stringData` is for writing alone: what it says ends up in `data`. */
function encodeStringData(secret: JsonObject): JsonObject {
  const { stringData, ...rest } = secret
  if (!isObject(stringData)) return stringData === undefined ? secret : rest
  const encoded = Object.entries(stringData).map(([key, value]) => [key, Buffer.from(String(value ?? '')).toString('base64')] as const)
  return { ...rest, data: { ...(isObject(secret.data) ? secret.data : {}), ...Object.fromEntries(encoded) } }
}

const keyMessage =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"

function validateKeys(object: JsonObject, field: string): FieldError[] {
  return Object.keys(isObject(object[field]) ? object[field] : {}).flatMap((key) => {
    if (key === '.' || key === '..') return [invalid(`${field}[${key}]`, key, `must not be '${key}'`)]
    return /^[-._a-zA-Z0-9]+$/.test(key) ? [] : [invalid(`${field}[${key}]`, key, keyMessage)]
  })
}

function validateBase64(secret: JsonObject): FieldError[] {
  return Object.entries(isObject(secret.data) ? secret.data : {}).flatMap(([key, value]) =>
    typeof value === 'string' && !/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(value) ? [invalid(`data[${key}]`, '<secret>', 'must be base64')] : [],
  )
}

/** Keys that Secrets of a type must have. */
const requiredKeys: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
}

function validateType(secret: JsonObject): FieldError[] {
  const keys = requiredKeys[textAt(secret, 'type')] ?? []
  return keys.filter((key) => at(secret, 'data', key) === undefined).map((key) => required(`data[${key}]`))
}

function validateImmutable(object: JsonObject, old: JsonObject | undefined, fields: readonly string[]): FieldError[] {
  if (old?.immutable !== true) return []
  const changed = (object.immutable === true ? fields : ['immutable', ...fields]).filter(
    (field) => field === 'immutable' || !jsonEqual(object[field], old[field]),
  )
  return changed.map((field) => forbidden(field, 'field is immutable when `immutable` is set'))
}
