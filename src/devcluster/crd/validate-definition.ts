/** What is wrong with a CustomResourceDefinition, in the words of apiextensions' own validation. */
import type { FieldError } from '../../api/field-error.ts'
import { invalid, notSupported, required, tooMany } from '../../api/field-error.ts'
import { dns1035Label, dns1123Subdomain } from '../../api/names.ts'
import { checkStructural } from '../../schema/structural.ts'
import type { Definition, DefinitionColumn, DefinitionNames, DefinitionScale, DefinitionVersion } from './definition.ts'
import { isConditionTrue } from './definition.ts'
import { compileJsonPath, plainFields } from './json-path.ts'

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string']
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']
const approvalAnnotation = 'api-approved.kubernetes.io'

/** All errors of a definition that is to be created, or to replace `old`. */
export function validateDefinition(definition: Definition, old?: Definition): FieldError[] {
  const { spec } = definition
  const errors = [
    ...validateName(definition),
    ...validateGroup(definition),
    ...enumerated('spec.scope', spec.scope, ['Cluster', 'Namespaced']),
    ...validateNames(spec.names ?? {}, 'spec.names'),
    ...validateVersions(spec.versions ?? []),
    ...validateConversion(definition),
  ]
  if (spec.preserveUnknownFields === true) {
    const detail = 'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'
    errors.push(invalid('spec.preserveUnknownFields', true, detail))
  }
  if (old !== undefined) errors.push(...validateChange(definition, old))
  errors.push(...validateStoredVersions(definition))
  return errors
}

function validateName({ metadata, spec }: Definition): FieldError[] {
  const name = metadata?.name
  if (typeof name !== 'string' || name === '') return []
  return name === `${spec.names?.plural}.${spec.group}` ? [] : [invalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group')]
}

function validateGroup({ metadata, spec }: Definition): FieldError[] {
  const { group } = spec
  if (!group) return [required('spec.group')]
  const problems = dns1123Subdomain(group)
  if (problems.length > 0) return [invalid('spec.group', group, problems.join(','))]
  if (!group.includes('.')) return [invalid('spec.group', group, 'should be a domain with at least one dot')]
  const isProtected = /(^|\.)(k8s\.io|kubernetes\.io)$/.test(group)
  const approval = metadata?.annotations?.[approvalAnnotation]
  if (!isProtected || /^https?:\/\/|^unapproved/.test(approval ?? '')) return []
  const path = `metadata.annotations[${approvalAnnotation}]`
  const see = 'see https://github.com/kubernetes/enhancements/pull/1111'
  return approval === undefined
    ? [required(path, `protected groups must have approval annotation "${approvalAnnotation}", ${see}`)]
    : [
        invalid(
          path,
          approval,
          `protected groups must have approval annotation "${approvalAnnotation}" with either a URL or a reason starting with "unapproved", ${see}`,
        ),
      ]
}

function validateNames(names: Partial<DefinitionNames>, path: string): FieldError[] {
  const mixed = 'may have mixed case, but should otherwise match: '
  const errors = [
    ...named(`${path}.plural`, names.plural),
    ...named(`${path}.singular`, names.singular),
    ...named(`${path}.kind`, names.kind, mixed),
    ...named(`${path}.listKind`, names.listKind, mixed),
    ...(names.shortNames ?? []).flatMap((name, index) => named(`${path}.shortNames[${index}]`, name)),
    ...(names.categories ?? []).flatMap((name, index) => named(`${path}.categories[${index}]`, name)),
  ]
  if (names.kind && names.kind === names.listKind)
    errors.push(invalid(`${path}.listKind`, names.listKind, 'kind and listKind may not be the same'))
  return errors
}

function named(path: string, name: string | undefined, mixedCase?: string): FieldError[] {
  if (!name) return [required(path)]
  const problems = dns1035Label(mixedCase === undefined ? name : name.toLowerCase())
  return problems.length === 0 ? [] : [invalid(path, name, `${mixedCase ?? ''}${problems.join(',')}`)]
}

function validateVersions(versions: readonly DefinitionVersion[]): FieldError[] {
  const path = 'spec.versions'
  const errors = versions.flatMap((version, index) => validateVersion(version, `${path}[${index}]`))
  const names = versions.map(({ name }) => name)
  if (new Set(names).size !== names.length) errors.push(invalid(path, versions, 'must contain unique version names'))
  if (versions.filter(({ storage }) => storage).length !== 1) {
    errors.push(invalid(path, versions, 'must have exactly one version marked as storage version'))
  }
  return errors
}

function validateVersion(version: DefinitionVersion, path: string): FieldError[] {
  const problems = dns1035Label(version.name ?? '')
  const schemaPath = `${path}.schema.openAPIV3Schema`
  const schema = version.schema?.openAPIV3Schema
  const errors = problems.length === 0 ? [] : [invalid(`${path}.name`, version.name ?? '', problems.join(','))]
  if (schema === undefined) errors.push(required(schemaPath, 'schemas are required'))
  else errors.push(...checkStructural(schema, schemaPath))
  if (version.deprecationWarning !== undefined && version.deprecated !== true) {
    errors.push(invalid(`${path}.deprecationWarning`, version.deprecationWarning, 'can only be set for deprecated versions'))
  }
  if (version.subresources?.scale !== undefined) errors.push(...validateScale(version.subresources.scale, `${path}.subresources.scale`))
  errors.push(
    ...(version.additionalPrinterColumns ?? []).flatMap((column, index) =>
      validateColumn(column, `${path}.additionalPrinterColumns[${index}]`),
    ),
  )
  errors.push(...validateSelectableFields(version, `${path}.selectableFields`))
  return errors
}

function validateScale(scale: DefinitionScale, path: string): FieldError[] {
  return [
    ...scalePath(`${path}.specReplicasPath`, scale.specReplicasPath, /^\.spec\./, '.spec'),
    ...scalePath(`${path}.statusReplicasPath`, scale.statusReplicasPath, /^\.status\./, '.status'),
    ...(scale.labelSelectorPath
      ? scalePath(`${path}.labelSelectorPath`, scale.labelSelectorPath, /^\.(spec|status)\./, 'either .spec or .status')
      : []),
  ]
}

function scalePath(path: string, value: string | undefined, root: RegExp, roots: string): FieldError[] {
  if (!value) return [required(path)]
  if (plainFields(value) === undefined) return [invalid(path, value, 'must be a simple json path without array notation')]
  return root.test(value) ? [] : [invalid(path, value, `should be a json path under ${roots}`)]
}

function validateColumn(column: DefinitionColumn, path: string): FieldError[] {
  return [
    ...(column.name ? [] : [required(`${path}.name`)]),
    ...enumerated(`${path}.type`, column.type, columnTypes),
    ...(column.format ? enumerated(`${path}.format`, column.format, columnFormats) : []),
    ...simplePath(`${path}.jsonPath`, column.jsonPath),
  ]
}

function simplePath(path: string, value: string | undefined): FieldError[] {
  if (!value) return [required(path)]
  try {
    if (!value.startsWith('.')) return [invalid(path, value, 'must be a simple json path starting with .')]
    compileJsonPath(value)
    return []
  } catch (error) {
    return [invalid(path, value, `must be a simple json path starting with .: ${(error as SyntaxError).message}`)]
  }
}

/** Each selectable field costs one evaluation per object and event: the API server's own limit. */
const maxSelectableFields = 8

function validateSelectableFields(version: DefinitionVersion, path: string): FieldError[] {
  const fields = version.selectableFields ?? []
  const errors = fields.flatMap(({ jsonPath }, index) => {
    if (!jsonPath) return [required(`${path}[${index}].jsonPath`)]
    return plainFields(jsonPath) === undefined
      ? [invalid(`${path}[${index}].jsonPath`, jsonPath, 'is an invalid path: does not refer to a valid field')]
      : []
  })
  return fields.length > maxSelectableFields ? [...errors, tooMany(path, fields.length, maxSelectableFields)] : errors
}

function validateConversion({ spec }: Definition): FieldError[] {
  const strategy = spec.conversion?.strategy
  if (spec.conversion === undefined) return []
  const errors = enumerated('spec.conversion.strategy', strategy, ['None', 'Webhook'])
  if (strategy === 'Webhook' && spec.conversion.webhook === undefined) {
    errors.push(required('spec.conversion.webhook.clientConfig', 'required when strategy is set to Webhook'))
  }
  return errors
}

function enumerated(path: string, value: string | undefined, values: readonly string[]): FieldError[] {
  if (!value) return [required(path)]
  return values.includes(value) ? [] : [notSupported(path, value, values)]
}

/** What may not change once the names are accepted and the definition serves. */
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
  const names = (spec.versions ?? []).map(({ name }) => name)
  const path = 'status.storedVersions'
  return (status?.storedVersions ?? []).flatMap((stored, index) =>
    names.includes(stored)
      ? []
      : [
          invalid(
            `${path}[${index}]`,
            stored,
            `missing from spec.versions; ${stored} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${stored} and removes ${stored} from ${path}`,
          ),
        ],
  )
}
