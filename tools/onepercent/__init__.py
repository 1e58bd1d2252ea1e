"""OnePercent: goals with steps, habits and a diary, changed in two phases."""
