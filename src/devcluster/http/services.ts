/** The dependencies that the handlers of all requests share. */
import type { Clock } from '../../runtime/clock.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { UserInfo } from '../apimachinery/request-context.ts'
import type { Registry } from '../registry/registry.ts'
import type { Catalog } from '../resources/catalog.ts'
import type { ContainerAccess } from '../rest/container-access.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import type { Authorizer } from '../access/authorizer.ts'
import type { Discovery } from './discovery.ts'
import type { JsonText } from './json-text.ts'
import type { OpenApi } from './openapi.ts'
import type { OpenApiV2 } from './openapi-v2.ts'
import type { RequestInfo } from './request-info.ts'
import type { RequestMetrics } from './request-metrics.ts'

/** The methods of the registry that the HTTP handlers call. */
export type Resources = Pick<
  Registry,
  'count' | 'get' | 'read' | 'readList' | 'waitFor' | 'watch' | 'create' | 'put' | 'patch' | 'delete' | 'deleteCollection'
>

export interface Services {
  readonly registry: Resources
  readonly catalog: Catalog
  readonly authorizer: Authorizer
  readonly clock: Clock
  readonly logger: Logger
  readonly jsonText: JsonText
  readonly discovery: Discovery
  readonly openApi: OpenApi
  readonly openApiV2: OpenApiV2
  readonly metrics: RequestMetrics
  /** Absent when Pods are simulated. */
  readonly containers?: ContainerAccess
}

/** An authorized request for a type in the catalog. */
export interface ResourceRequest {
  readonly info: ResourceInfo
  readonly target: RequestInfo
  readonly user: UserInfo
}
