/** This module is imported first: an older Node.js must fail with a clear message instead of an error of the first dependency. */
import { ProreusError } from './errors.ts'
import { nodeProblem } from './supported-node.ts'

const problem = nodeProblem()
if (problem !== undefined) throw new ProreusError('PRO_CONFIG_INVALID', problem)
