/** What the webhooks say about an object without a cluster: everything but `admit`. */
import { messageOf } from '../api/errors.ts'
import type { FieldError } from '../api/field-error.ts'
import { forbidden, invalid, notSupported, sortFieldErrors } from '../api/field-error.ts'
import { apiVersionOf, parseApiVersion } from '../api/group-version-kind.ts'
import type { JsonObject } from '../api/json.ts'
import { getOwn, isObject } from '../api/json.ts'
import type { Kind } from '../api/kind.ts'
import { decodeObjectMeta } from '../api/object-meta-json.ts'
import { schemaOf, validateObject } from '../schema/kind-schema.ts'
import type { Logger } from '../telemetry/logger.ts'
import { silentLogger } from '../telemetry/logger.ts'
import type { ReviewContext, WebhookDefinition } from './definition.ts'
import { complete, ownErrors } from './mutating.ts'

export interface OfflineReview {
  /** Whether there is a webhook for the kind; without one nothing else is said. */
  readonly known: boolean
  readonly kind: string
  readonly name: string
  readonly valid: boolean
  readonly errors: readonly FieldError[]
  readonly warnings: readonly string[]
}

/** Reviews an object as if it were created now, with strict field validation as kubectl asks for it. */
export async function reviewOffline(
  webhooks: readonly WebhookDefinition[],
  object: JsonObject,
  logger: Logger = silentLogger(),
): Promise<OfflineReview> {
  const { group, version } = parseApiVersion(textOf(getOwn(object, 'apiVersion')))
  const kind = textOf(getOwn(object, 'kind'))
  const metadata = getOwn(object, 'metadata')
  const name = isObject(metadata) ? textOf(metadata.name) || textOf(metadata.generateName) : ''
  const definition = webhooks.find((candidate) => candidate.kind.group === group && candidate.kind.kind === kind)
  if (definition === undefined) return { known: false, kind, name, valid: true, errors: [], warnings: [] }
  const warnings = new Set<string>()
  const errors = await errorsOf(definition, object, version, contextOf(object, name, logger, warnings))
  return { known: true, kind, name, valid: errors.length === 0, errors: sortFieldErrors(errors), warnings: [...warnings] }
}

async function errorsOf(
  definition: WebhookDefinition,
  object: JsonObject,
  version: string,
  context: ReviewContext<JsonObject>,
): Promise<readonly FieldError[]> {
  const { kind } = definition
  const served = kind.versions
    .filter((candidate) => candidate.served)
    .map((candidate) => apiVersionOf({ group: kind.group, version: candidate.name }))
  const apiVersion = apiVersionOf({ group: kind.group, version })
  if (!served.includes(apiVersion)) return [notSupported('apiVersion', apiVersion, served)]
  const schema = schemaOf(kind, version)
  const handlers = definition.handlersOf(version)
  const metadata = decodeObjectMeta(object.metadata ?? null)
  // What cannot be read cannot be judged either.
  if (metadata.error !== undefined) return [invalid('metadata', object.metadata ?? '', metadata.error)]
  const pruned = schema.prune(inNamespace(kind, { ...object, metadata: metadata.metadata }))
  if (pruned.malformed !== undefined) return [pruned.malformed]
  const unknownPaths = [
    ...metadata.unknown.map((path) => `metadata.${path}`),
    ...pruned.unknown,
    // The API server would keep these, and the webhook warns of them: in a file they are a mistake as any other.
    ...schema.unknownFields(pruned.object),
  ]
  const unknown = unknownPaths.map((path) => forbidden(path, 'unknown field'))
  const { object: completed } = await complete(schema, handlers, pruned.object, undefined, context)
  const errors = validateObject(kind, completed, { version })
  try {
    return [...unknown, ...errors, ...(await ownErrors(handlers, { object: completed, errors }, undefined, context))]
  } catch (error) {
    return [...unknown, ...errors, invalid('<nil>', '', `the kind's own validation failed: ${messageOf(error)}`)]
  }
}

/** kubectl fills in the namespace that it was asked for; a file need not name one. */
function inNamespace(kind: Kind, object: JsonObject): JsonObject {
  const { metadata } = object
  return kind.namespaced && isObject(metadata) && metadata.namespace === undefined
    ? { ...object, metadata: { ...metadata, namespace: 'default' } }
    : object
}

function contextOf(object: JsonObject, name: string, logger: Logger, warnings: Set<string>): ReviewContext<JsonObject> {
  const namespace = isObject(object.metadata) ? textOf(object.metadata.namespace) : ''
  return {
    operation: 'CREATE',
    dryRun: true,
    user: { username: '' },
    namespace,
    name,
    subResource: '',
    oldObject: undefined,
    signal: new AbortController().signal,
    logger,
    warn: (text) => void (text !== '' && warnings.add(text)),
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
