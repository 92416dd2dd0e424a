/** Imported first: on an older Node.js a sentence, and not whatever the first dependency fails with there. */
import { ProreusError } from './errors.ts'
import { nodeProblem } from './supported-node.ts'

const problem = nodeProblem()
if (problem !== undefined) throw new ProreusError('PRO_CONFIG_INVALID', problem)
