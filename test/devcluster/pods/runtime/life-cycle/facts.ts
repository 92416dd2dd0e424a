/** The table of facts about the life of Pods. */
import type { LifeCycleFact } from '../../../../support/pods/life-cycle-fact.ts'
import { endFacts } from './end-facts.ts'
import { initFacts } from './init-facts.ts'
import { probeFacts } from './probe-facts.ts'
import { restartFacts } from './restart-facts.ts'
import { startFacts } from './start-facts.ts'

export const facts: readonly LifeCycleFact[] = [...restartFacts, ...initFacts, ...endFacts, ...startFacts, ...probeFacts]
