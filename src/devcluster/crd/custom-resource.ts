/** Converts a CustomResourceDefinition to rows of the resource catalog, one for each served version. */
import { isObject } from '../../api/json.ts'
import type { StructuralSchema } from '../../api/structural-schema.ts'
import { compileSchema } from '../../schema/compile.ts'
import type { Converter } from '../rest/converter.ts'
import { forbidden } from '../apimachinery/status-error.ts'
import { compareVersions } from '../resources/catalog.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import type { SubresourceInfo, Verb } from '../rest/subresource.ts'
import type { Definition, DefinitionVersion } from './definition.ts'
import { isConditionTrue } from './definition.ts'
import { compileJsonPath } from './json-path.ts'
import { printerColumns, selectableValue } from './printer-columns.ts'
import { scaleSubresource, validateScale } from './scale.ts'

/** Returns a catalog row for each served version of a CRD; an empty list until the CRD is established. */
export function customResources(definition: Definition, converter?: Converter): readonly ResourceInfo[] {
  if (!isConditionTrue(definition, 'Established')) return []
  return definition.spec.versions.filter(({ served }) => served).map((version) => customResource(definition, version, converter))
}

/** Returns the catalog row of a CRD's storage version, even if this version is not served. */
export function storedResource(definition: Definition, converter?: Converter): ResourceInfo {
  const { versions } = definition.spec
  return customResource(definition, versions.find(({ storage }) => storage) ?? versions[0]!, converter)
}

function customResource(definition: Definition, version: DefinitionVersion, converter: Converter | undefined): ResourceInfo {
  const { spec } = definition
  const names = definition.status?.acceptedNames ?? spec.names
  const schema: StructuralSchema = version.schema?.openAPIV3Schema ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const selectable = (version.selectableFields ?? []).map(({ jsonPath }) => ({
    name: jsonPath.replace(/^\./, ''),
    path: compileJsonPath(jsonPath),
  }))
  const { scale } = version.subresources ?? {}
  const terminating = isConditionTrue(definition, 'Terminating')
  return {
    group: spec.group,
    version: version.name,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: spec.scope === 'Namespaced',
    verbs: customVerbs,
    storageKey: storageKeyOf(definition),
    storageVersion: spec.versions.find(({ storage }) => storage)?.name ?? version.name,
    ...(converter && { converter }),
    subresources: subresourcesOf(names.kind, version, spec),
    custom: true,
    schema: compileSchema(schema),
    schemaOf: (name) => {
      const stored = spec.versions.find((candidate) => candidate.name === name)?.schema?.openAPIV3Schema
      return stored === undefined ? undefined : compileSchema(stored)
    },
    openapi: schema,
    strategy: {
      generation: true,
      ...(scale && { validate: (object, _old, subresource = '') => validateScale(scale, object, subresource) }),
      ...(terminating && {
        prepareForCreate: ({ metadata }) => {
          const name = isObject(metadata) && typeof metadata.name === 'string' ? metadata.name : ''
          const subject = { group: spec.group, kind: names.kind, plural: names.plural }
          throw forbidden(subject, name, 'create not allowed while custom resource definition is terminating')
        },
      }),
    },
    columns: printerColumns(version.additionalPrinterColumns),
    selectableFields: (object) => Object.fromEntries(selectable.map(({ name, path }) => [name, selectableValue(path, object)])),
    ...(version.deprecated === true && { deprecationWarning: deprecationWarning(definition, version) }),
  }
}

/** Returns the key under which the custom resources of a CRD are stored. */
export function storageKeyOf({ spec }: Definition): string {
  return `${spec.group}/${spec.names.plural}`
}

/** The verbs of custom resources, in the order in which discovery lists them. */
const customVerbs: readonly Verb[] = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
const subresourceVerbs: readonly Verb[] = ['get', 'patch', 'update']

function subresourcesOf(
  kind: string,
  { subresources }: DefinitionVersion,
  spec: Definition['spec'],
): Readonly<Record<string, SubresourceInfo>> {
  return {
    ...(subresources?.status !== undefined && { status: { kind, verbs: subresourceVerbs } }),
    ...(subresources?.scale !== undefined && { scale: scaleSubresource(subresources.scale, spec) }),
  }
}

/**
 * Returns the deprecation warning of a version. If the CRD specifies no warning, returns the default warning. The default warning
 * recommends the newest version that is served, not deprecated, and newer than `version`
 * (k8s.io/apiextensions-apiserver/pkg/apiserver: customresource_handler.go).
 */
function deprecationWarning({ spec }: Definition, version: DefinitionVersion): string {
  if (version.deprecationWarning !== undefined) return version.deprecationWarning
  const named = ({ name }: DefinitionVersion): string => `${spec.group}/${name} ${spec.names.kind}`
  const [newest] = spec.versions
    .filter(({ name, served, deprecated }) => served && deprecated !== true && compareVersions(name, version.name) < 0)
    .sort((a, b) => compareVersions(a.name, b.name))
  return `${named(version)} is deprecated${newest === undefined ? '' : `; use ${named(newest)}`}`
}
