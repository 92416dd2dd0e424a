/** Validates CustomResourceDefinitions (k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation). */
import type { FieldError } from '../../api/field-error.ts'
import { duplicate, forbidden, invalid, notSupported, required, tooMany } from '../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject, jsonEqual, stringifyJson } from '../../api/json.ts'
import { dns1035Label, dns1123Subdomain } from '../../api/name-syntax.ts'
import type { StructuralSchema } from '../../api/structural-schema.ts'
import { formatOf } from '../../formats/formats.ts'
import { keywords } from '../../schema/structural/check-junctors.ts'
import { isSchema, subschemas } from '../../schema/structural/subschemas.ts'
import { checkStructural } from '../../schema/structural/check-schema.ts'
import { validateClient } from '../resources/builtin/webhook-validation.ts'
import type { Definition, DefinitionColumn, DefinitionNames, DefinitionScale, DefinitionVersion } from './definition.ts'
import { isConditionTrue } from './definition.ts'
import { plainFields } from './json-path.ts'

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string']
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']
const approvalAnnotation = 'api-approved.kubernetes.io'

/** Returns all field errors of a CRD. `old` is the CRD before an update; undefined for a new CRD. */
export function validateDefinition(definition: Definition, old?: Definition): FieldError[] {
  const { spec } = definition
  const errors = [
    ...(old === undefined ? validateName(definition) : []),
    ...validateGroup(definition),
    ...enumerated('spec.scope', spec.scope, ['Cluster', 'Namespaced']),
    ...validateNames(spec.names ?? {}, 'spec.names'),
    ...validateVersions(spec.versions),
    ...validateConversion(definition),
  ]
  if (spec.preserveUnknownFields === true) {
    const detail = 'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'
    errors.push(invalid('spec.preserveUnknownFields', true, detail))
    if ((spec.versions ?? []).some(({ schema }) => hasDefault(schema?.openAPIV3Schema))) {
      errors.push(invalid('spec.preserveUnknownFields', true, 'must be false in order to use defaults in the schema'))
    }
    if (spec.conversion !== undefined && spec.conversion.strategy !== 'None') {
      errors.push(invalid('spec.conversion.strategy', spec.conversion.strategy, 'must be None if spec.preserveUnknownFields is true'))
    }
  }
  if (old !== undefined) errors.push(...validateChange(definition, old))
  errors.push(...validateStoredVersions(definition))
  return errors
}

function hasDefault(schema: StructuralSchema | undefined): boolean {
  return isSchema(schema) && ((schema.default ?? undefined) !== undefined || subschemas(schema).some(hasDefault))
}

function validateName({ metadata, spec }: Definition): FieldError[] {
  const name = metadata?.name
  if (typeof name !== 'string' || name === '') return []
  const expected = `${spec.names?.plural ?? ''}.${spec.group}`
  return name === expected ? [] : [invalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group')]
}

function validateGroup({ metadata, spec }: Definition): FieldError[] {
  const { group } = spec
  if (!group) return [required('spec.group')]
  const problems = dns1123Subdomain(group)
  if (problems.length > 0) return [invalid('spec.group', group, problems.join(','))]
  if (!group.includes('.')) return [invalid('spec.group', group, 'should be a domain with at least one dot')]
  const isProtected = /(^|\.)(k8s\.io|kubernetes\.io)$/.test(group)
  const approval = metadata?.annotations?.[approvalAnnotation]
  if (!isProtected || (approval && isApproval(approval))) return []
  const path = `metadata.annotations[${approvalAnnotation}]`
  const see = 'see https://github.com/kubernetes/enhancements/pull/1111'
  return !approval
    ? [required(path, `protected groups must have approval annotation "${approvalAnnotation}", ${see}`)]
    : [
        invalid(
          path,
          approval,
          `protected groups must have approval annotation "${approvalAnnotation}" with either a URL or a reason starting with "unapproved", ${see}`,
        ),
      ]
}

/** Returns true when the approval annotation has a valid value: a URL with a host, or a string that begins with `unapproved`. */
function isApproval(text: string): boolean {
  return text.startsWith('unapproved') || (formatOf('uri')!.test(text) && /^[a-z][a-z0-9+.-]*:\/\/[^/?]*[^/?@](?=[/?]|$)/i.test(text))
}

function validateNames(names: Partial<DefinitionNames>, path: string): FieldError[] {
  const mixed = 'may have mixed case, but should otherwise match: '
  const errors = [
    ...named(`${path}.plural`, names.plural),
    ...named(`${path}.singular`, names.singular),
    ...named(`${path}.kind`, names.kind, mixed),
    ...named(`${path}.listKind`, names.listKind, mixed),
    ...(names.shortNames ?? []).flatMap((name, index) => labelled(`${path}.shortNames[${index}]`, name)),
    ...(names.categories ?? []).flatMap((name, index) => labelled(`${path}.categories[${index}]`, name)),
  ]
  if (names.kind && names.kind === names.listKind)
    errors.push(invalid(`${path}.listKind`, names.listKind, 'kind and listKind may not be the same'))
  return errors
}

function named(path: string, name: string | undefined, mixedCase?: string): FieldError[] {
  return name ? labelled(path, name, mixedCase) : [required(path)]
}

function labelled(path: string, name: string, mixedCase?: string): FieldError[] {
  const problems = dns1035Label(mixedCase === undefined ? name : name.toLowerCase())
  return problems.length === 0 ? [] : [invalid(path, name, `${mixedCase ?? ''}${problems.join(',')}`)]
}

/**
 * Fields of each version in `spec.versions`. If a field is equal in all versions, kube-apiserver's internal type contains the field only
 * once, at the top level of `spec`. Errors then contain the path of the internal field.
 */
const shareable = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const

type Shared = ReadonlySet<(typeof shareable)[number]>

function validateVersions(given: readonly DefinitionVersion[] | null | undefined): FieldError[] {
  const versions = given ?? []
  const shared: Shared = new Set(shareable.filter((part) => versions.every((version) => jsonEqual(version[part], versions[0]?.[part]))))
  const hasStatus = ({ subresources }: DefinitionVersion): boolean => isObject(subresources?.status)
  const anyStatus = versions.some(hasStatus)
  const errors = versions.flatMap((version, index) =>
    validateVersion(version, index, shared, shared.has('schema') ? anyStatus : hasStatus(version)),
  )
  const names = versions.map(({ name }) => name)
  const shown = given === undefined || given === null ? 'null' : stringifyJson(versions.map((version) => internalVersion(version, shared)))
  const refused = (detail: string): FieldError => ({
    path: 'spec.versions',
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${shown}: ${detail}`,
  })
  if (new Set(names).size !== names.length) errors.push(refused('must contain unique version names'))
  if (versions.filter(({ storage }) => storage).length !== 1) {
    errors.push(refused('must have exactly one version marked as storage version'))
  }
  return errors
}

/** Returns a version in the form of kube-apiserver's internal type. Error messages quote this form. */
function internalVersion(version: DefinitionVersion, shared: Shared): JsonObject {
  const own = (part: (typeof shareable)[number]): JsonValue => (shared.has(part) ? null : ((version[part] ?? null) as JsonValue))
  return {
    Name: version.name,
    Served: version.served,
    Storage: version.storage,
    Deprecated: version.deprecated ?? false,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: own('schema'),
    Subresources: own('subresources'),
    AdditionalPrinterColumns: own('additionalPrinterColumns'),
    SelectableFields: own('selectableFields'),
  }
}

function validateVersion(version: DefinitionVersion, index: number, shared: Shared, hasStatus: boolean): FieldError[] {
  const path = `spec.versions[${index}]`
  /**
   * Returns the path at which the errors of a field are reported:
   *
   * - If the field has different values in the versions of the CRD, the path is that of the field in the version that is validated, below
   *   `spec.versions`.
   * - If the field has the same value in all versions, its errors are reported only once. For the first version, the path is that of a
   *   field at the top level of `spec`. For each other version, the path is undefined.
   */
  const partPath = (part: (typeof shareable)[number], field: string = part): string | undefined =>
    shared.has(part) ? (index === 0 ? `spec.${field}` : undefined) : `${path}.${part}`
  return [
    ...validateVersionName(version.name ?? '', index),
    ...validateSchema(version, path, shared.has('schema'), index, hasStatus),
    ...validateDeprecation(version, `${path}.deprecationWarning`),
    ...validateScale(version.subresources?.scale, partPath('subresources')),
    ...validateColumns(version.additionalPrinterColumns ?? [], partPath('additionalPrinterColumns')),
    ...validateSelectableFields(version, partPath('selectableFields')),
  ]
}

function validateVersionName(name: string, index: number): FieldError[] {
  const problems = dns1035Label(name)
  if (problems.length === 0) return []
  const error = invalid(`spec.versions[${index}].name`, name, problems.join(','))
  // kube-apiserver copies the name of the first version to the deprecated field `spec.version`, and reports the error for that field, too.
  return index === 0 && name !== '' ? [{ ...error, path: 'spec.version' }, error] : [error]
}

function validateSchema({ schema }: DefinitionVersion, path: string, shared: boolean, index: number, hasStatus: boolean): FieldError[] {
  const openAPIV3Schema = schema?.openAPIV3Schema
  if (openAPIV3Schema === undefined) return [required(`${path}.schema.openAPIV3Schema`)]
  if (shared && index > 0) return []
  const place = shared ? 'spec.validation.openAPIV3Schema' : `${path}.schema.openAPIV3Schema`
  return [...(hasStatus ? rootErrors(openAPIV3Schema, place) : []), ...checkStructural(openAPIV3Schema, place)]
}

/**
 * Keywords that are allowed at the root of the schema if the version has a status subresource, each with its name in Go. The error message
 * lists the Go names (k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation).
 */
const atRoot = {
  ...{ description: 'Description', type: 'Type', format: 'Format', title: 'Title' },
  ...{ maximum: 'Maximum', exclusiveMaximum: 'ExclusiveMaximum', minimum: 'Minimum', exclusiveMinimum: 'ExclusiveMinimum' },
  ...{ maxLength: 'MaxLength', minLength: 'MinLength', pattern: 'Pattern', maxItems: 'MaxItems', minItems: 'MinItems' },
  ...{ uniqueItems: 'UniqueItems', multipleOf: 'MultipleOf', required: 'Required', items: 'Items', properties: 'Properties' },
  ...{ externalDocs: 'ExternalDocs', example: 'Example', 'x-kubernetes-preserve-unknown-fields': 'XPreserveUnknownFields' },
  'x-kubernetes-validations': 'XValidations',
}

function rootErrors(schema: StructuralSchema, path: string): FieldError[] {
  if (schema.type && schema.type !== 'object') {
    const detail = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
    return [invalid(`${path}.type`, schema.type, detail)]
  }
  const refused = Object.entries(schema).some(
    ([keyword, value]) => keywords.has(keyword) && !(keyword in atRoot) && value !== null && value !== false,
  )
  const allowed = `[${Object.values(atRoot).join(' ')}]`
  return refused
    ? [invalid(path, schema, `only ${allowed} fields are allowed at the root of the schema if the status subresource is enabled`)]
    : []
}

const maxDeprecationWarning = 256

function validateDeprecation({ deprecated, deprecationWarning }: DefinitionVersion, path: string): FieldError[] {
  if (deprecationWarning === undefined) return []
  const wrong = (detail: string): FieldError => invalid(path, deprecationWarning, detail)
  if (deprecated !== true) return [wrong('can only be set for deprecated versions')]
  const errors: FieldError[] = []
  // kube-apiserver counts bytes here, although its message says "characters".
  if (Buffer.byteLength(deprecationWarning) > maxDeprecationWarning)
    errors.push(wrong(`must be <= ${maxDeprecationWarning} characters long`))
  if (deprecationWarning === '') errors.push(wrong('must not be an empty string'))
  const unprintable = deprecationWarning.search(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u)
  if (unprintable >= 0) {
    const index = Buffer.byteLength(deprecationWarning.slice(0, unprintable))
    errors.push(wrong(`must only contain printable UTF-8 characters; non-printable character found at index ${index}`))
  }
  return errors
}

function validateScale(scale: DefinitionScale | undefined, path: string | undefined): FieldError[] {
  if (scale === undefined || path === undefined) return []
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale
  return [
    ...scalePath(`${path}.scale.specReplicasPath`, specReplicasPath, ['.spec.'], '.spec'),
    ...scalePath(`${path}.scale.statusReplicasPath`, statusReplicasPath, ['.status.'], '.status'),
    ...(labelSelectorPath
      ? scalePath(`${path}.scale.labelSelectorPath`, labelSelectorPath, ['.spec.', '.status.'], 'either .spec or .status')
      : []),
  ]
}

function scalePath(path: string, value: string | undefined, roots: readonly string[], rootNames: string): FieldError[] {
  const errors = simplePath(path, value)
  if (errors.length > 0 || value === undefined) return errors
  return roots.some((root) => value.startsWith(root)) ? [] : [invalid(path, value, `should be a json path under ${rootNames}`)]
}

function validateColumns(columns: readonly DefinitionColumn[], path: string | undefined): FieldError[] {
  if (path === undefined) return []
  return columns.flatMap((column, index) => validateColumn(column, `${path}[${index}]`))
}

function validateColumn({ name, type, format, jsonPath }: DefinitionColumn, path: string): FieldError[] {
  const oneOf = (values: readonly string[]): string => `must be one of ${values.join(',')}`
  return [
    ...(name ? [] : [required(`${path}.name`)]),
    ...(!type
      ? [required(`${path}.type`, oneOf(columnTypes))]
      : columnTypes.includes(type)
        ? []
        : [invalid(`${path}.type`, type, oneOf(columnTypes))]),
    ...(!format || columnFormats.includes(format) ? [] : [invalid(`${path}.format`, format, oneOf(columnFormats))]),
    ...simplePath(`${path}.JSONPath`, jsonPath),
  ]
}

/** Like kube-apiserver, checks only that a JSON path begins with a dot. */
function simplePath(path: string, value: string | undefined): FieldError[] {
  if (!value) return [required(path)]
  return value.startsWith('.') ? [] : [invalid(path, value, 'must be a simple json path starting with .')]
}

/**
 * Maximum number of selectable fields of a version (k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation: MaxSelectableFields).
 * The limit exists because each field is evaluated for each object and each event.
 */
const maxSelectableFields = 8

function validateSelectableFields(version: DefinitionVersion, path: string | undefined): FieldError[] {
  const fields = version.selectableFields ?? []
  if (path === undefined || fields.length === 0) return []
  const seen = new Set<string>()
  const errors = fields.flatMap(({ jsonPath }, index) => {
    const fieldPath = `${path}[${index}].jsonPath`
    if (!jsonPath) return [required(fieldPath)]
    if (seen.has(jsonPath)) return [duplicate(fieldPath, jsonPath)]
    seen.add(jsonPath)
    const problem = selectableProblem(jsonPath, version.schema?.openAPIV3Schema)
    return problem === undefined ? [] : [invalid(fieldPath, jsonPath, problem)]
  })
  return fields.length > maxSelectableFields ? [...errors, tooMany(path, fields.length, maxSelectableFields)] : errors
}

function selectableProblem(jsonPath: string, root: StructuralSchema | undefined): string | undefined {
  if (!/^[.[]/.test(jsonPath)) return `is an invalid path: expected [ or . but got: ${/^[^.[]*/.exec(jsonPath)![0]}`
  const names = plainFields(jsonPath) ?? []
  const schema = names.reduce<StructuralSchema | undefined>((at, name) => {
    const properties = at?.properties
    return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined
  }, root)
  if (names.length === 0 || names[0] === 'metadata' || schema === undefined) return 'is an invalid path: does not refer to a valid field'
  return ['string', 'boolean', 'integer'].includes(schema.type ?? '')
    ? undefined
    : 'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'
}

function validateConversion({ spec }: Definition): FieldError[] {
  const { conversion } = spec
  if (conversion === undefined) return []
  const errors = enumerated('spec.conversion.strategy', conversion.strategy, ['None', 'Webhook'])
  const { conversionReviewVersions, clientConfig } = conversion.webhook ?? {}
  const versions = Array.isArray(conversionReviewVersions) ? conversionReviewVersions : []
  const [versionsPath, configPath] = ['spec.conversion.conversionReviewVersions', 'spec.conversion.webhookClientConfig']
  if (conversion.strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook'
    if (isObject(clientConfig)) errors.push(forbidden(configPath, detail))
    if (versions.length > 0) errors.push(forbidden(versionsPath, detail))
    return errors
  }
  if (versions.length === 0) errors.push(required(versionsPath))
  else if (!versions.includes('v1') && !versions.includes('v1beta1'))
    errors.push(invalid(versionsPath, versions, 'must include at least one of v1, v1beta1'))
  if (!isObject(clientConfig)) errors.push(required(configPath, 'required when strategy is set to Webhook'))
  else errors.push(...validateClient(clientConfig, configPath))
  return errors
}

function enumerated(path: string, value: string | undefined, values: readonly string[]): FieldError[] {
  if (!value) return [required(path)]
  return values.includes(value) ? [] : [notSupported(path, value, values)]
}

/** Returns the errors for changes of immutable fields. Scope and kind are immutable once the CRD is established. */
function validateChange({ spec }: Definition, old: Definition): FieldError[] {
  const established = isConditionTrue(old, 'Established')
  const immutable = (path: string, value: string, before: string): FieldError[] =>
    value === before ? [] : [invalid(path, value, 'field is immutable')]
  return [
    ...immutable('spec.group', spec.group, old.spec.group),
    ...immutable('spec.names.plural', spec.names.plural, old.spec.names.plural),
    ...(established ? immutable('spec.scope', spec.scope, old.spec.scope) : []),
    ...(established ? immutable('spec.names.kind', spec.names.kind, old.spec.names.kind) : []),
  ]
}

function validateStoredVersions({ spec, status }: Definition): FieldError[] {
  const path = 'status.storedVersions'
  const stored = status?.storedVersions ?? []
  const names = (spec.versions ?? []).map(({ name }) => name)
  if (stored.length === 0) return [invalid(path, null, 'must have at least one stored version')]
  const errors = stored.flatMap((version, index) =>
    names.includes(version)
      ? []
      : [
          invalid(
            `${path}[${index}]`,
            version,
            `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from ${path}`,
          ),
        ],
  )
  // If several versions have `storage: true`, kube-apiserver uses the last one.
  const current = (spec.versions ?? []).findLast(({ storage }) => storage)?.name
  if (current !== undefined && !stored.includes(current)) errors.push(invalid(path, stored, `must have the storage version ${current}`))
  return errors
}
