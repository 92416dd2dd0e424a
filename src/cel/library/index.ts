/** The functions of all libraries in the CEL environment of Kubernetes 1.36 (`k8s.io/apiserver/pkg/cel/environment: base.go`). */
import type { Overload } from './declarations.ts'
import { functionTable } from './declarations.ts'
import { addresses } from './addresses.ts'
import { authorization } from './authorization.ts'
import { conversions } from './conversions.ts'
import { expressions } from './regular-expressions.ts'
import { lists } from './lists.ts'
import { namedFormats } from './named-formats.ts'
import { operators } from './operators.ts'
import { optionals } from './optionals.ts'
import { quantities } from './quantity.ts'
import { semvers } from './semver.ts'
import { strings } from './strings.ts'
import { timeParts } from './time-parts.ts'
import { urls } from './urls.ts'

export const functions: ReadonlyMap<string, readonly Overload[]> = functionTable([
  ...operators,
  ...conversions,
  ...timeParts,
  ...strings,
  ...expressions,
  ...optionals,
  ...lists,
  ...addresses,
  ...urls,
  ...quantities,
  ...semvers,
  ...namedFormats,
  ...authorization,
])
