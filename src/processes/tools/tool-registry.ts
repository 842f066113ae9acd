import type { AgentTool, TurnPhase } from '../../core/turn/extension-points.js';

/** The tools that agents may call, in the order in which they are listed; composed in the tools module. */
export class ToolRegistry {
  constructor(private readonly tools: readonly AgentTool[]) {}

  get(name: string): AgentTool | undefined {
    return this.tools.find((tool) => tool.definition.name === name);
  }

  inPhase(phase: TurnPhase | null): AgentTool[] {
    return this.tools.filter((tool) => phase === null || tool.phases.includes(phase));
  }
}
