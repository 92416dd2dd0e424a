/** All groups of recorded requests. */
import { apiServiceGroup } from './cases/api-services.ts'
import { certificateGroups } from './cases/certificates.ts'
import { config } from './cases/config.ts'
import { network } from './cases/network.ts'
import { podSecurity } from './cases/pod-security.ts'
import { podRules } from './cases/pod-rules.ts'
import { podGroups } from './cases/pods.ts'
import { policy } from './cases/policy.ts'
import { serviceRules } from './cases/service-rules.ts'
import { storage } from './cases/storage.ts'
import { workloadRules } from './cases/workload-rules.ts'
import { workloads } from './cases/workloads.ts'
import type { Group } from './group.ts'

export const groups: readonly Group[] = [
  ...workloads,
  ...config,
  ...network,
  ...policy,
  ...storage,
  ...podSecurity,
  ...certificateGroups,
  apiServiceGroup,
  ...workloadRules,
  serviceRules,
  ...podRules,
  ...podGroups,
]
